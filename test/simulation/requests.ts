import { decodeObject } from '../../src/adapters/crypto/jws.ts';
import { kernel, SECOND } from './kernel.ts';

/** Requests, answers, and the tokens in them. */

export const [BASE, APPLICATION] = ['https://auth.example.com', 'https://app.example.com'];
export const REFRESH = '/auth/refresh-token';

type Texts = Readonly<Record<string, string>>;
export type Request = { readonly method: string; readonly path: string; readonly address: string } & Sent;
/** `origin` is `null` if the request comes from a page of the service itself. */
export type Sent = { readonly headers?: Texts; readonly body?: string | undefined; readonly origin?: string | null };
export type Answer = { readonly status: number; readonly headers: Texts; readonly cookies: string[]; body: string };
export const json = (body: object) => ({ headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });

const partOf = (token: string, part: 0 | 1) => decodeObject(token.split('.')[part] ?? '') as Texts | null;
export const sessionOf = (token = ''): string => partOf(token, 0)?.sid ?? '';
export const claimsOf = (token = ''): Texts => partOf(token, 1) ?? {};
export const isLive = (token?: string): boolean => Number(claimsOf(token).exp) * SECOND > kernel.time;
const refreshTokenIn = (cookies = ''): string | undefined => /\brefresh_token=([\w.-]+)/.exec(cookies)?.[1];
export const tokenIn = (answer?: Answer | null): string | undefined => refreshTokenIn(answer?.cookies.join());
/** The tokens of a request. `own` is the session of the cookie; `id` is the session that the request acts for. */
export const tokensOf = ({ headers }: Request) => {
  const [refresh, access] = [refreshTokenIn(headers?.cookie), headers?.authorization?.split(' ')[1]];
  return { refresh, access, own: sessionOf(refresh), id: sessionOf(access ?? refresh) };
};
