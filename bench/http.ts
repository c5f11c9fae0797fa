import { Agent, type IncomingHttpHeaders, request } from 'node:http';

export type Answer = { readonly status: number; readonly headers: IncomingHttpHeaders };

/** A client that keeps as many connections as it needs. */
export const client = (origin: string) => {
  const agent = new Agent({ keepAlive: true });
  /** Posts JSON, or nothing. */
  const post = (path: string, body?: object, headers: Record<string, string> = {}): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const type = body === undefined ? {} : { 'Content-Type': 'application/json' };
      const sent = request(
        `${origin}${path}`,
        { method: 'POST', agent, headers: { ...type, ...headers } },
        (response) => {
          response.resume().once('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers }));
        },
      );
      sent.once('error', reject).end(body === undefined ? undefined : JSON.stringify(body));
    });
  return { post, close: () => agent.destroy() };
};

export type Client = ReturnType<typeof client>;

/** @throws Error for an answer that is no success. */
export const succeeded = ({ status }: Answer): void => {
  if (status >= 300) throw new Error(`answered ${status}`);
};
