import { createRemoteJWKSet, customFetch, type JWTVerifyOptions, jwtVerify } from 'jose';
import { AuthError } from './auth-error.ts';
import { sleep } from './host.ts';
import { baseOf } from './response.ts';
import type { EndedSessions, EndedSessionsOptions } from './types.ts';

/** Seconds that clocks may differ, and that a list may be old: the service signs it anew every minute. */
const [CLOCKS, OLDEST] = [5, 120];
/** Characters of the list: more than twice what 20,000 sessions and users take. */
const LONGEST = 8 * 2 ** 20;

type Ended = { readonly event_timestamp: number };
/** Times are in seconds. */
type List = {
  readonly iat: number;
  /** Of an access token. */
  readonly lifetime: number;
  /** No token that was issued until then counts. */
  readonly before?: number;
  readonly sessions: readonly (Ended & { readonly sid: string })[];
  readonly users: readonly (Ended & { readonly sub: string })[];
};

const textOf = async ({ body }: Response): Promise<string> => {
  const [reader, decoder] = [body?.getReader(), new TextDecoder()];
  let text = '';
  for (let part = await reader?.read(); part?.value; part = await reader?.read()) {
    text += decoder.decode(part.value, { stream: true });
    if (text.length <= LONGEST) continue;
    await reader?.cancel();
    throw new Error('The list is too long.');
  }
  return text;
};

/** What the lists so far say. No list takes it back: one from before a log-out may be sent again by somebody else. */
const knownEndings = () => {
  const [sessions, users] = [new Map<string, number>(), new Map<string, number>()];
  let before = Number.NEGATIVE_INFINITY;
  return {
    add: (list: List): void => {
      before = Math.max(before, list.before ?? before);
      for (const { sid, event_timestamp } of list.sessions) sessions.set(sid, event_timestamp);
      for (const { sub, event_timestamp } of list.users) users.set(sub, Math.max(users.get(sub) ?? 0, event_timestamp));
      // Tokens from before that time have expired, or are refused by `before`.
      const past = Math.max(before, list.iat - list.lifetime - 2 * CLOCKS);
      for (const each of [sessions, users]) for (const [id, at] of each) if (at < past) each.delete(id);
    },
    has: ({ sid, sub, iat }: Parameters<EndedSessions['isEnded']>[0]): boolean =>
      sessions.has(sid as string) || !((iat as number) > Math.max(before, users.get(sub as string) ?? before)),
  };
};

/** Follows the list of the sessions and users whose access tokens do not count any more, by one request that waits for a change. */
export const followEndedSessions = (options: EndedSessionsOptions): EndedSessions => {
  const { issuer, whenStale = 'stale-ok', staleAfter = 60, onError, fetch: send = fetch } = options;
  const base = baseOf(options.baseUrl);
  const wait = Math.min(20, Math.max(1, Math.floor(staleAfter / 3)));
  const url = `${base}/.well-known/ended-sessions?wait=${wait}`;
  const keys = createRemoteJWKSet(new URL(`${base}/.well-known/jwks.json`), { [customFetch]: send });
  const rules = {
    ...{ algorithms: ['ES256'], typ: 'ended-sessions+jwt', issuer, audience: 'ended-sessions' },
    ...{ requiredClaims: ['lifetime', 'sessions', 'users'], maxTokenAge: OLDEST, clockTolerance: CLOCKS },
  } as JWTVerifyOptions;
  const known = knownEndings();
  const stop = new AbortController();
  let [readAt, etag] = [Number.NEGATIVE_INFINITY, ''];

  const read = async (): Promise<void> => {
    const signal = AbortSignal.any([stop.signal, AbortSignal.timeout((wait + 10) * 1000)]);
    const response = await send(url, { headers: etag ? { 'If-None-Match': etag } : {}, redirect: 'error', signal });
    if (response.status === 200) {
      known.add((await jwtVerify<List>(await textOf(response), keys, rules)).payload);
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
      // From half a second on, so that many log-outs do not make many requests, to 8 seconds.
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
      return known.has(token);
    },
    close: () => stop.abort(),
  };
};
