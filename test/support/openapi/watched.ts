import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { HttpHandlers } from '../../../src/adapters/http/app.ts';
import type { Route } from '../../../src/adapters/http/routing/define-route.ts';
import { type Answer, type AnswerCheck, answerCheckOf } from './answer-check.ts';

/**
 * Wraps the handlers of a service, and compares every answer with the OpenAPI document of the routes, whatever client gets it.
 * `assertDocumented` fails if an answer does not match.
 */
export const watchAnswers = (handlers: HttpHandlers, routes: readonly Route[]) => {
  const api = routes.filter(({ visitor }) => visitor === undefined);
  const check = answerCheckOf(api);
  const isDescribed = pathsOf(api);
  const isOfPages = pathsOf(routes.filter(({ visitor }) => visitor));
  const deviations: string[] = [];
  const see = (method: string, target: string, answer: Answer, asked: IncomingHttpHeaders = {}): void => {
    // A navigating browser gets an error as an HTML page, which is not documented. For a refused origin, which no route handles,
    // the Accept header identifies a browser.
    const isNavigation = asked['sec-fetch-dest'] !== undefined;
    const isRefusedOrigin = answer.status === 403 && asked.origin !== undefined && `${asked.accept}`.includes('html');
    if (answer.status >= 400 && (isNavigation || isRefusedOrigin) && isHtml(answer)) return;
    // Pages and their forms are not documented, but a page may have the same path as a route of the API.
    const path = target.split(/[?#]/)[0] ?? '';
    if (isOfPages(path) && (answer.status === 303 || isHtml(answer) || !isDescribed(path))) return;
    const problems = problemsOf(check, method, target, answer);
    const shown = answer.body.slice(0, 500);
    if (problems.length > 0) deviations.push(`${method} ${target} ${answer.status}: ${problems.join('; ')}\n${shown}`);
  };
  const watchedHandlers: HttpHandlers = {
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
    handlers: watchedHandlers,
    /** @returns the answers since the last call that do not match the document */
    undocumented: (): string[] => deviations.splice(0),
    /** @throws Error with the answers that do not match the document */
    assertDocumented: (): void => {
      if (deviations.length > 0) throw new Error(`not as the OpenAPI document says:\n${deviations.join('\n')}`);
    },
  };
};

/** Returns a function that tells whether one of the routes has a path. */
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

/** Records what is written to a response, and calls `see` when the response is complete. */
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
    // If the client has closed the connection, it gets no answer.
    const answer = { status: outgoing.statusCode, headers: outgoing.getHeaders(), body };
    if (!socket.destroyed) see(method, url, answer, headers);
    return ended;
  }) as typeof end;
};
