import type { Context } from 'koa';
import * as v from 'valibot';
import type { AccessToken } from '../../../../application/ports/token-signer.ts';
import { type EndedList, listMatcher } from '../../../../domain/ended-session.ts';
import { AppError } from '../../../../domain/errors/app-error.ts';
import { monotonicTime } from '../../../clock/system.ts';
import { numberUpTo } from '../../../json/fields.ts';
import { etagOf } from '../../documents.ts';
import { httpFailure } from '../../errors/exceptions.ts';
import { clientKey } from '../../request/client.ts';
import { PUBLIC_READ, type Route, route } from '../../routing/define-route.ts';

/** Seconds. */
const MAX_WAIT = 25;
/** The longest wait, as a part of the request time-out. */
const MAX_WAIT_SHARE = 0.8;

const List = v.pipe(
  v.unknown(),
  v.metadata({
    jsonSchema: {
      type: 'string',
      description: [
        'A JWT of the type `ended-sessions+jwt`, signed with a key of the key set.',
        'Claims: `aud` (`ended-sessions`), `iss`, `iat`, `lifetime`, `sessions` (`sid`), `users` (`sub`), `before`.',
        'With `wait`, the answer comes when the list is another than that of If-None-Match, or after so many seconds.',
      ].join(' '),
      examples: ['eyJhbGciOiJFUzI1NiIsInR5cCI6ImVuZGVkLXNlc3Npb25zK2p3dCJ9.eyJsaWZldGltZSI6OTAwfQ.c2lnbmF0dXJl'],
    },
  }),
);

/** Access tokens that other services are to refuse before they expire. ADR 0029. */
export const endedSessionsRoute = (feed: EndedFeed, requestTimeout: number): Route =>
  route({
    name: 'ended-sessions',
    tag: 'documents',
    summary: 'Return the sessions that ended early, and the users who were disabled or deleted, as a signed list',
    ...PUBLIC_READ,
    at: 'GET /.well-known/ended-sessions',
    request: { query: v.strictObject({ wait: v.optional(numberUpTo(MAX_WAIT)) }) },
    response: { data: List, unwrapped: { type: 'application/jwt', cacheControl: 'public, max-age=1' } },
    handler: async ({ query: { wait = 0 }, signal }, ctx) => {
      const { bytes, etag } = await feed
        .list({
          has: (tag) => hasTag(ctx, tag),
          wait: Math.min(wait * 1_000, requestTimeout * MAX_WAIT_SHARE),
          client: clientKey(ctx),
          gone: AbortSignal.any([signal, hangUpOf(ctx)]),
        })
        .catch(unavailable);
      // A request that has waited is not slow.
      if (wait > 0) {
        ctx.state.startedAt = monotonicTime();
        ctx.state.arrivedAt = ctx.state.startedAt;
      }
      ctx.set('ETag', etag);
      // `fetch` adds `no-cache` to each request with an entity tag, and Koa would send the whole list (RFC 9110 §13.1.2).
      delete ctx.headers['cache-control'];
      return bytes;
    },
  });

const unavailable = (cause: unknown): never => {
  if (!(cause instanceof AppError)) throw cause;
  throw httpFailure(503, { reason: 'the list of ended sessions cannot be read', retryAfter: 1, cause });
};

/** RFC 9110 §13.1.2, with the weak comparison. */
const hasTag = (ctx: Context, tag: string): boolean => {
  const tags = ctx.get('If-None-Match').split(',');
  return tags.some((each) => each.trim() === '*' || each.trim().replace(/^W\//, '') === tag.replace(/^W\//, ''));
};

const hangUpOf = ({ res }: Context): AbortSignal => {
  const hangUp = new AbortController();
  res.once('close', () => hangUp.abort());
  return hangUp.signal;
};

type Source = {
  /** The list, with the ids of its entries, which never change. */
  readonly read: () => Promise<{ readonly list: EndedList; readonly ids: readonly string[] }>;
  readonly sign: (list: EndedList) => Promise<string>;
};

/**
 * A list as it is sent. All responses share the bytes, or slow readers would fill the memory. Instances give the same list the same weak entity
 * tag, whenever they have signed it.
 */
type Signed = { readonly bytes: Buffer; readonly etag: string; readonly has: ReturnType<typeof listMatcher> };

type Waiting = {
  /** Whether the caller has this list, and waits for another one. */
  readonly has: (etag: string) => boolean;
  /** 0: it does not wait. */
  readonly wait: number;
  readonly client: string;
  /** Aborted when the caller has gone. */
  readonly gone: AbortSignal;
};

/** While somebody asks, the list is read this often, since other instances may have changed it. */
const READ_INTERVAL = 500;
/** The shortest time between two signatures, however often the list changes. */
const SIGN_INTERVAL = 1_000;
/** An unchanged list is signed again after this time, so that readers can refuse an old one that somebody serves in its place. */
const SIGNED_FOR = 60_000;
/** Further callers are answered at once. */
const MOST_WAITING = 1_000;
const MOST_OF_CLIENT = 100;

/** The list of what has ended: read once for all who ask at an instance, and signed once for each change. ADR 0029. */
export const endedFeed = ({ read, sign }: Source) => {
  let current: Signed | undefined;
  let [readAt, signedAt, hasNews, isStopped, listed] = [0, 0, false, false, 0];
  let reading: Promise<Signed> | undefined;
  const sleeping = new Set<() => void>();
  const waiting = new Map<string, number>();
  const allWaiting = () => [...waiting.values()].reduce((sum, count) => sum + count, 0);

  const refresh = async (): Promise<Signed> => {
    hasNews = false;
    const { list, ids } = await read();
    readAt = monotonicTime();
    listed = ids.length;
    const etag = `W/"${etagOf(ids.join())}"`;
    if (current?.etag !== etag || readAt - signedAt >= SIGNED_FOR) {
      current = { etag, bytes: Buffer.from(await sign(list)), has: listMatcher(list) };
      signedAt = monotonicTime();
    }
    return current;
  };
  const dueAt = () => Math.max(signedAt + SIGN_INTERVAL, hasNews ? 0 : readAt + READ_INTERVAL);
  const get = async (): Promise<Signed> => {
    if (current !== undefined && monotonicTime() < dueAt()) return current;
    reading ??= refresh().finally(() => {
      reading = undefined;
    });
    return reading;
  };

  const sleep = (duration: number, gone: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        gone.removeEventListener('abort', wake);
        sleeping.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, duration);
      gone.addEventListener('abort', wake);
      sleeping.add(wake);
    });
  const wakeAll = () => {
    for (const wake of sleeping) wake();
  };
  const untilChanged = async (first: Signed, { has, wait, gone }: Waiting): Promise<Signed> => {
    const until = monotonicTime() + wait;
    let list = first;
    while (has(list.etag) && !isStopped && !gone.aborted) {
      const now = monotonicTime();
      if (now >= until) break;
      await sleep(Math.max(0, Math.min(until, dueAt()) - now), gone);
      list = await get();
    }
    return list;
  };

  return {
    /** @throws AppError DB_QUERY_FAILED */
    async list(caller: Waiting): Promise<Signed> {
      const list = await get();
      const { client, wait } = caller;
      const ofClient = waiting.get(client) ?? 0;
      if (wait === 0 || ofClient >= MOST_OF_CLIENT || allWaiting() >= MOST_WAITING) return list;
      waiting.set(client, ofClient + 1);
      try {
        return await untilChanged(list, caller);
      } finally {
        const left = (waiting.get(client) ?? 1) - 1;
        if (left === 0) waiting.delete(client);
        else waiting.set(client, left);
      }
    },
    /** Whether a token is on the list. If that cannot be read, the last one counts. */
    has: async (token: AccessToken): Promise<boolean> => (await get().catch(() => current))?.has(token) ?? false,
    /** Tells that this instance has ended something. */
    tell() {
      // Until the list is read, all who wait were woken already.
      if (hasNews) return;
      hasNews = true;
      wakeAll();
    },
    /** From now on, nobody waits. */
    stop() {
      isStopped = true;
      wakeAll();
    },
    counts: () => ({ listed, waiting: allWaiting() }),
  };
};

export type EndedFeed = ReturnType<typeof endedFeed>;
