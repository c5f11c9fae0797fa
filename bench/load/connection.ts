import { Client } from 'undici';

/** A request of a client, and what must come back for it to count. */
export type Call = {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly status: number;
  /** What the response's body must contain. */
  readonly containing?: string;
};

export type Answer = { readonly status: number; readonly setCookie: readonly string[]; readonly body: string };

export const isExpected = (call: Call, { status, body }: Answer): boolean =>
  status === call.status && (call.containing === undefined || body.includes(call.containing));

const JSON_TYPE = { 'Content-Type': 'application/json' };

/** A call that posts JSON. */
export const postJson = (path: string, body: object, expected: Pick<Call, 'status' | 'containing'>): Call => ({
  method: 'POST',
  path,
  headers: JSON_TYPE,
  body: JSON.stringify(body),
  ...expected,
});

/** One connection, kept, with one request at a time. undici's `dispatch` costs half of what its `request` does. */
export const connect = (origin: string) => {
  const client = new Client(origin, { pipelining: 1 });
  const send = (call: Call): Promise<Answer> =>
    new Promise((resolve, reject) => {
      let status = 0;
      let setCookie: readonly string[] = [];
      let body = '';
      client.dispatch(
        { method: call.method, path: call.path, headers: call.headers, body: call.body ?? null },
        {
          onRequestStart: () => undefined,
          onResponseStart: (_controller, code, headers) => {
            status = code;
            setCookie = [headers['set-cookie'] ?? []].flat();
          },
          onResponseData: (_controller, chunk) => {
            body += chunk.toString();
          },
          onResponseEnd: () => resolve({ status, setCookie, body }),
          onResponseError: (_controller, error) => reject(error),
        },
      );
    });
  return { send, close: () => client.destroy() };
};
