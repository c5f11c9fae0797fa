import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { HttpHandlers } from '../../../src/adapters/http/app.ts';
import type { Route } from '../../../src/adapters/http/routing/define-route.ts';
import { type Answer, type AnswerCheck, answerCheckOf } from './answer-check.ts';

/**
 * The handlers of a service, and a check that fails unless every answer they have given is as the OpenAPI document of the routes
 * says. It sees the answers where they leave the application, whatever client has asked.
 */
export const watched = (handlers: HttpHandlers, routes: readonly Route[]) => {
  const api = routes.filter(({ visitor }) => visitor === undefined);
  const check = answerCheckOf(api);
  const isDescribed = pathsOf(api);
  const isOfPages = pathsOf(routes.filter(({ visitor }) => visitor));
  const deviations: string[] = [];
  const see = (method: string, target: string, answer: Answer, asked: IncomingHttpHeaders = {}): void => {
    // A browser that navigates gets any error as a page, which programs do not. One that does not say so is known by what it accepts, before
    // there is a route.
    const isNavigation = asked['sec-fetch-dest'] !== undefined;
    const isRefusedOrigin = answer.status === 403 && asked.origin !== undefined && `${asked.accept}`.includes('html');
    if (answer.status >= 400 && (isNavigation || isRefusedOrigin) && isHtml(answer)) return;
    // Pages and their forms are not documented. One may have its path in common with a route of the API.
    const path = target.split(/[?#]/)[0] ?? '';
    if (isOfPages(path) && (answer.status === 303 || isHtml(answer) || !isDescribed(path))) return;
    const problems = problemsOf(check, method, target, answer);
    const shown = answer.body.slice(0, 500);
    if (problems.length > 0) deviations.push(`${method} ${target} ${answer.status}: ${problems.join('; ')}\n${shown}`);
  };
  const watching: HttpHandlers = {
    ...handlers,
    request: (incoming, outgoing) => {
      record(incoming, outgoing, see);
      handlers.request(incoming, outgoing);
    },
    errorResponse: async (status, reason) => {
      const errorResponse = await handlers.errorResponse(status, reason);
      const headers = Object.fromEntries(errorResponse.headers.map(([name, value]) => [name.toLowerCase(), value]));
      see('', '', { status, headers, body: errorResponse.body });
      return errorResponse;
    },
  };
  return {
    handlers: watching,
    /** @returns the answers so far that are not as documented, and forgets them. */
    undocumented: (): string[] => deviations.splice(0),
    /** @throws Error that names the answers which are not as documented */
    assertDocumented: (): void => {
      if (deviations.length > 0) throw new Error(`not as the OpenAPI document says:\n${deviations.join('\n')}`);
    },
  };
};

/** Whether one of the routes has a path. */
const pathsOf = (routes: readonly Route[]): ((path: string) => boolean) => {
  const patterns = routes.map(({ path }) => new RegExp(`^${path.replaceAll(/:\w+/g, '[^/]+')}$`));
  return (path) => patterns.some((pattern) => pattern.test(path));
};

const isHtml = ({ headers }: Answer): boolean => `${headers['content-type']}`.startsWith('text/html');

const problemsOf = (check: AnswerCheck, method: string, target: string, answer: Answer): string[] => {
  try {
    return check(method, target, answer);
  } catch (error) {
    return [`it could not be checked: ${error}`];
  }
};

/** Notes what is written to a response, and passes it on when it is complete. */
const record = (
  { method = '', url = '', socket, headers }: IncomingMessage,
  outgoing: ServerResponse,
  see: (method: string, target: string, answer: Answer, asked: IncomingHttpHeaders) => void,
): void => {
  const chunks: Buffer[] = [];
  const note = (chunk: unknown): void => {
    if (typeof chunk === 'string' || chunk instanceof Uint8Array) chunks.push(Buffer.from(chunk as string));
  };
  const write = outgoing.write.bind(outgoing);
  const end = outgoing.end.bind(outgoing);
  outgoing.write = ((...given: Parameters<typeof write>) => {
    note(given[0]);
    return write(...given);
  }) as typeof write;
  outgoing.end = ((...given: Parameters<typeof end>) => {
    note(given[0]);
    const ended = end(...given);
    // Node sends no body in response to HEAD.
    const body = method === 'HEAD' ? '' : Buffer.concat(chunks).toString();
    // A client that hung up gets no answer.
    const answer = { status: outgoing.statusCode, headers: outgoing.getHeaders(), body };
    if (!socket.destroyed) see(method, url, answer, headers);
    return ended;
  }) as typeof end;
};
