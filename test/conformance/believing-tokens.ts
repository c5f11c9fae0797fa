import { issues, type Json, parsed, REFRESH } from './alterations.ts';
import type { Answered, Asked, Behavior } from './faulty-server.ts';

const claimsIn = (token: string): Json => parsed(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());

/** Replaces what looks like a token in the headers of a request. */
const withTokens = (asked: Asked, change: (token: string) => string): Asked => {
  const headers = { ...asked.headers };
  for (const name of ['authorization', 'cookie'] as const) {
    const value = headers[name]?.replace(/ey\S+$/, change);
    if (value !== undefined) headers[name] = value;
  }
  return { ...asked, headers };
};

/** Takes a token for the one with its `jti`, whatever its signature is, and answers a refresh that is refused with the last tokens. */
export const believingTokens = (): Behavior => {
  const issued = new Map<unknown, string>();
  let last: Answered | undefined;
  return async (asked, forward) => {
    const answered = await forward(withTokens(asked, (token) => issued.get(claimsIn(token).jti) ?? token));
    const isRefresh = `${asked.method} ${asked.path}` === REFRESH;
    if (!issues(asked, answered)) return isRefresh && last !== undefined ? last : answered;
    const access = /"accessToken":"([^"]+)"/.exec(answered.body)?.[1] ?? '';
    const refresh = /=([^;]+)/.exec(answered.headers['set-cookie']?.[0] ?? '')?.[1] ?? '';
    for (const token of [access, refresh]) issued.set(claimsIn(token).jti, token);
    if (isRefresh) last = answered;
    return answered;
  };
};
