import { createRemoteJWKSet, customFetch, type JWTVerifyOptions, jwtVerify } from 'jose';
import { AuthError } from './auth-error.ts';
import { sleep } from './host.ts';
import { baseOf } from './response.ts';
import type { EndedSessions, EndedSessionsOptions } from './types.ts';

/** Seconds by which clocks may differ, and the greatest age of a list: the service signs it anew every minute. */
const [TOLERANCE, MAX_AGE] = [5, 120];
/** The most characters of a list. The service lists at most 10,000 sessions and users, which take less than a quarter of it. */
const MAX_LIST_LENGTH = 8 * 2 ** 20;

type ListEntry = { readonly event_timestamp: number };
/** Times are in seconds. */
type List = {
  readonly iat: number;
  /** The lifetime of an access token. */
  readonly lifetime: number;
  /** A token that was issued at this time or earlier does not count. */
  readonly before?: number;
  readonly sessions: readonly (ListEntry & { readonly sid: string })[];
  readonly users: readonly (ListEntry & { readonly sub: string })[];
};

const textOf = async ({ body }: Response): Promise<string> => {
  const [reader, decoder] = [body?.getReader(), new TextDecoder()];
  let text = '';
  for (let part = await reader?.read(); part?.value; part = await reader?.read()) {
    text += decoder.decode(part.value, { stream: true });
    if (text.length <= MAX_LIST_LENGTH) continue;
    await reader?.cancel();
    throw new Error('The list is too long.');
  }
  return text;
};

/** The entries of all lists so far, until their tokens have expired. A later list without an entry does not remove it: an attacker could send an old list. */
const knownEndings = () => {
  const [sessions, users] = [new Map<string, number>(), new Map<string, number>()];
  let before = Number.NEGATIVE_INFINITY;
  return {
    add: (list: List): void => {
      before = Math.max(before, list.before ?? before);
      for (const { sid, event_timestamp } of list.sessions) sessions.set(sid, event_timestamp);
      for (const { sub, event_timestamp } of list.users) users.set(sub, Math.max(users.get(sub) ?? 0, event_timestamp));
      // Tokens from before `past` have expired, or are refused by `before`.
      const past = Math.max(before, list.iat - list.lifetime - 2 * TOLERANCE);
      for (const each of [sessions, users]) for (const [id, at] of each) if (at < past) each.delete(id);
    },
    has: ({ sid, sub, iat }: Parameters<EndedSessions['isEnded']>[0]): boolean =>
      sessions.has(sid as string) || !((iat as number) > Math.max(before, users.get(sub as string) ?? before)),
  };
};

/** Follows the list of the sessions and users whose access tokens do not count any more, by one request at a time, which waits for a change. */
export const followEndedSessions = (options: EndedSessionsOptions): EndedSessions => {
  const { issuer, whenStale = 'stale-ok', staleAfter = 60, onError, fetch: send = fetch } = options;
  const base = baseOf(options.baseUrl);
  const waitSeconds = Math.min(20, Math.max(1, Math.floor(staleAfter / 3)));
  const url = `${base}/.well-known/ended-sessions?wait=${waitSeconds}`;
  const keys = createRemoteJWKSet(new URL(`${base}/.well-known/jwks.json`), { [customFetch]: send });
  const rules = {
    ...{ algorithms: ['ES256'], typ: 'ended-sessions+jwt', issuer, audience: 'ended-sessions' },
    ...{ requiredClaims: ['lifetime', 'sessions', 'users'], maxTokenAge: MAX_AGE, clockTolerance: TOLERANCE },
  } as JWTVerifyOptions;
  const endings = knownEndings();
  const stop = new AbortController();
  let [readAt, etag] = [Number.NEGATIVE_INFINITY, ''];

  const read = async (): Promise<void> => {
    const signal = AbortSignal.any([stop.signal, AbortSignal.timeout((waitSeconds + 10) * 1000)]);
    const response = await send(url, { headers: etag ? { 'If-None-Match': etag } : {}, redirect: 'error', signal });
    if (response.status === 200) {
      endings.add((await jwtVerify<List>(await textOf(response), keys, rules)).payload);
      etag = response.headers.get('ETag') ?? '';
    } else {
      await response.body?.cancel();
      const retryAfter = Number(response.headers.get('Retry-After')) || null;
      if (response.status !== 304) throw Object.assign(new Error(`The status is ${response.status}.`), { retryAfter });
    }
    readAt = performance.now();
  };

  const follow = async (): Promise<void> => {
    for (let failures = 0; !stop.signal.aborted; ) {
      let retryAfter = 0;
      try {
        await read();
        failures = 0;
      } catch (cause) {
        if (stop.signal.aborted) return;
        failures = Math.min(failures + 1, 4);
        retryAfter = Math.min(60, (cause as AuthError).retryAfter ?? 0);
        const message = `The ended sessions can't be read: ${(cause as Error).message}`;
        onError?.(new AuthError('CLIENT_NETWORK_FAILED', message, { cause, retryable: true }));
      }
      // About half a second, so that many log-outs do not cause many requests. After failures up to ten seconds, or about the `Retry-After` of up to a minute.
      await sleep(Math.max(retryAfter * 1000, 500 * 2 ** failures) * (0.75 + Math.random() / 2), true);
    }
  };
  void follow();

  return {
    isEnded: (token) => {
      if (whenStale === 'refuse' && performance.now() - readAt > staleAfter * 1000)
        throw new AuthError('CLIENT_NETWORK_FAILED', `No answer for ${staleAfter} seconds: ${url}`, {
          retryable: true,
        });
      return endings.has(token);
    },
    close: () => stop.abort(),
  };
};
