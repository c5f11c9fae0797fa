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

/** The greatest `wait` of a request, in seconds. */
const MAX_WAIT = 25;
/** A request waits at most this share of the request time-out. */
const MAX_WAIT_SHARE = 0.8;

const SignedListJson = v.pipe(
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

/** The list by which other services refuse access tokens of ended sessions and users before the tokens expire (ADR 0029). */
export const endedSessionsRoute = (feed: EndedFeed, requestTimeout: number): Route =>
  route({
    name: 'ended-sessions',
    tag: 'documents',
    summary: 'Return the sessions that ended early, and the users who were disabled or deleted, as a signed list',
    ...PUBLIC_READ,
    at: 'GET /.well-known/ended-sessions',
    request: { query: v.strictObject({ wait: v.optional(numberUpTo(MAX_WAIT)) }) },
    response: { data: SignedListJson, unwrapped: { type: 'application/jwt', cacheControl: 'public, max-age=1' } },
    handler: async ({ query: { wait = 0 }, signal }, ctx) => {
      const { bytes, etag } = await feed
        .list({
          hasList: (tag) => matchesTag(ctx, tag),
          wait: Math.min(wait * 1_000, requestTimeout * MAX_WAIT_SHARE),
          client: clientKey(ctx),
          hungUp: AbortSignal.any([signal, hangUpSignal(ctx)]),
        })
        .catch(throwUnavailable);
      // The wait must not count as handling time: the request would be logged as slow.
      if (wait > 0) {
        ctx.state.startedAt = monotonicTime();
        ctx.state.arrivedAt = ctx.state.startedAt;
      }
      ctx.set('ETag', etag);
      // `fetch` adds `no-cache` to each request with an entity tag, because of which Koa would send the whole list instead of 304.
      delete ctx.headers['cache-control'];
      return bytes;
    },
  });

const throwUnavailable = (cause: unknown): never => {
  if (!(cause instanceof AppError)) throw cause;
  throw httpFailure(503, { reason: 'the list of ended sessions cannot be read', retryAfter: 1, cause });
};

/** Whether `If-None-Match` has the tag, by the weak comparison (RFC 9110 §13.1.2). */
const matchesTag = (ctx: Context, tag: string): boolean => {
  const tags = ctx.get('If-None-Match').split(',');
  return tags.some((each) => each.trim() === '*' || each.trim().replace(/^W\//, '') === tag.replace(/^W\//, ''));
};

const hangUpSignal = ({ res }: Context): AbortSignal => {
  const hangUp = new AbortController();
  res.once('close', () => hangUp.abort());
  return hangUp.signal;
};

type ListSource = {
  /** Reads the list and the ids of its entries. An entry with an id never changes. */
  readonly read: () => Promise<{ readonly list: EndedList; readonly ids: readonly string[] }>;
  readonly sign: (list: EndedList) => Promise<string>;
};

/**
 * The list as responses send it. All responses share the bytes: with a copy for each, slow clients could fill the memory. All instances give the
 * same list the same entity tag. It is weak, since their signatures differ.
 */
type SignedList = { readonly bytes: Buffer; readonly etag: string; readonly includes: ReturnType<typeof listMatcher> };

type ListRequest = {
  /** Whether the client already has the list with this tag, and so waits for another list. */
  readonly hasList: (etag: string) => boolean;
  /** How long the request waits for another list, in milliseconds; 0: not at all. */
  readonly wait: number;
  readonly client: string;
  /** Aborted when the client has hung up, or the request has timed out. */
  readonly hungUp: AbortSignal;
};

/** Milliseconds. A younger list is read again only if this instance has ended a session; an older one always, since other instances end sessions, too. */
const READ_INTERVAL = 500;
/** The shortest time between two signatures, in milliseconds. It bounds the work if the list changes often. */
const SIGN_INTERVAL = 1_000;
/** An unchanged list that is read after so many milliseconds is signed again, so that readers can refuse an old list that an attacker serves in its place. */
const RESIGN_INTERVAL = 60_000;
/** Requests that wait at the same time, of all clients and of one. Further requests get the list at once. */
const MAX_WAITING = 1_000;
const MAX_WAITING_OF_CLIENT = 100;

/** The list of ended sessions and users. An instance reads it once for all requests that come meanwhile, and signs it only when it has to (ADR 0029). */
export const endedFeed = ({ read, sign }: ListSource) => {
  let current: SignedList | undefined;
  let [readAt, signedAt, hasNews, isStopped, entryCount] = [0, 0, false, false, 0];
  let pendingRead: Promise<SignedList> | undefined;
  const wakers = new Set<() => void>();
  const waitingByClient = new Map<string, number>();
  const allWaiting = () => [...waitingByClient.values()].reduce((sum, count) => sum + count, 0);

  const readAndSign = async (): Promise<SignedList> => {
    hasNews = false;
    const { list, ids } = await read();
    readAt = monotonicTime();
    entryCount = ids.length;
    const etag = `W/"${etagOf(ids.join())}"`;
    if (current?.etag !== etag || readAt - signedAt >= RESIGN_INTERVAL) {
      current = { etag, bytes: Buffer.from(await sign(list)), includes: listMatcher(list) };
      signedAt = monotonicTime();
    }
    return current;
  };
  const dueAt = () => Math.max(signedAt + SIGN_INTERVAL, hasNews ? 0 : readAt + READ_INTERVAL);
  const getList = async (): Promise<SignedList> => {
    if (current !== undefined && monotonicTime() < dueAt()) return current;
    pendingRead ??= readAndSign().finally(() => {
      pendingRead = undefined;
    });
    return pendingRead;
  };

  const sleep = (duration: number, hungUp: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        hungUp.removeEventListener('abort', wake);
        wakers.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, duration);
      hungUp.addEventListener('abort', wake);
      wakers.add(wake);
    });
  const wakeAll = () => {
    for (const wake of wakers) wake();
  };
  const waitForChange = async (first: SignedList, { hasList, wait, hungUp }: ListRequest): Promise<SignedList> => {
    const deadline = monotonicTime() + wait;
    let list = first;
    while (hasList(list.etag) && !isStopped && !hungUp.aborted) {
      const now = monotonicTime();
      if (now >= deadline) break;
      await sleep(Math.max(0, Math.min(deadline, dueAt()) - now), hungUp);
      list = await getList();
    }
    return list;
  };

  return {
    /** @throws AppError for instance DB_QUERY_FAILED */
    async list(caller: ListRequest): Promise<SignedList> {
      const list = await getList();
      const { client, wait } = caller;
      const waitingOfClient = waitingByClient.get(client) ?? 0;
      if (wait === 0 || waitingOfClient >= MAX_WAITING_OF_CLIENT || allWaiting() >= MAX_WAITING) return list;
      waitingByClient.set(client, waitingOfClient + 1);
      try {
        return await waitForChange(list, caller);
      } finally {
        const left = (waitingByClient.get(client) ?? 1) - 1;
        if (left === 0) waitingByClient.delete(client);
        else waitingByClient.set(client, left);
      }
    },
    /** Whether a token is on the list. If the list cannot be read, the last one that was read counts. */
    includes: async (token: AccessToken): Promise<boolean> =>
      (await getList().catch(() => current))?.includes(token) ?? false,
    /** Called after this instance has ended a session: the list may be read again as soon as `SIGN_INTERVAL` allows. */
    notify() {
      // Until the list is read again, a second call would wake the same requests.
      if (hasNews) return;
      hasNews = true;
      wakeAll();
    },
    /** Answers all requests that wait. From now on, no request waits. */
    stop() {
      isStopped = true;
      wakeAll();
    },
    counts: () => ({ listed: entryCount, waiting: allWaiting() }),
  };
};

export type EndedFeed = ReturnType<typeof endedFeed>;
