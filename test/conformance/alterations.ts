import type { IncomingHttpHeaders } from 'node:http';
import type { Answered, Asked, Behavior } from './faulty-server.ts';

export type Json = Readonly<Record<string, unknown>>;

type When = (asked: Asked, answered: Answered) => boolean;

export const isTo =
  (...ends: string[]): When =>
  ({ method, path }) =>
    ends.includes(`${method} ${path}`);
export const [REGISTER, LOGIN, REFRESH] = ['POST /auth/register', 'POST /auth/login', 'POST /auth/refresh-token'];
/** Requests that issue tokens when they succeed. */
export const issues: When = (asked, { status }) => isTo(REGISTER, LOGIN, REFRESH)(asked, ANYTHING) && status < 300;
const ANYTHING: Answered = { status: 0, headers: {}, body: '' };
export const isError: When = (_asked, { status }) => status >= 400;

export const parsed = (text: string): Json => {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
};

/** Alters responses. */
export const altering =
  (when: When, alter: (answered: Answered, asked: Asked) => Answered): (() => Behavior) =>
  () =>
  async (asked, forward) => {
    const answered = await forward(asked);
    return when(asked, answered) ? alter(answered, asked) : answered;
  };

export const withBody = (alter: (body: Json) => object) => (answered: Answered) => ({
  ...answered,
  body: answered.body === '' ? '' : JSON.stringify(alter(parsed(answered.body))),
});
export const withData = (alter: (data: Json) => unknown) =>
  withBody((body) => ({ ...body, data: alter(body.data as Json) }));
export const withStatus = (status: number) => (answered: Answered) => ({ ...answered, status });
const withHeaders = (alter: (headers: IncomingHttpHeaders) => IncomingHttpHeaders) => (answered: Answered) => ({
  ...answered,
  headers: alter(answered.headers),
});
export const without = (name: string) => withHeaders(({ [name]: _, ...headers }) => headers);
export const withCookie = (alter: (setCookie: string) => string) =>
  withHeaders((headers) => ({
    ...headers,
    ...(headers['set-cookie'] && { 'set-cookie': headers['set-cookie'].map(alter) }),
  }));

/** An error of the service's form, which the service would not have answered. */
export const errorWith = (status: number, code: string): Answered => {
  const context = { requestId: '01JZZZZZZZ0123456789ABCDEF', version: '1' };
  const rest = { message: 'no', type: `http://localhost/errors/${code}`, timestamp: new Date().toISOString(), context };
  return {
    status,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ success: false, code, ...rest, details: null }),
  };
};
