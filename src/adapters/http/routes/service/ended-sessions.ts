import type { Context } from 'koa';
import * as v from 'valibot';
import { AppError } from '../../../../domain/errors/app-error.ts';
import { monotonicTime } from '../../../clock/system.ts';
import { httpFailure } from '../../errors/exceptions.ts';
import { clientKey } from '../../request/client.ts';
import { PUBLIC_READ, type Route, route } from '../../routing/define-route.ts';
import type { EndedFeed } from './ended-feed.ts';

/** Seconds. */
const MAX_WAIT = 25;
/** The part of the request time-out in which a request may wait. */
const WAITING = 0.8;

const Wait = v.pipe(
  v.string(),
  v.regex(/^\d{1,2}$/, 'must be a whole number'),
  v.metadata({ jsonSchema: { type: 'integer', minimum: 1, maximum: MAX_WAIT } }),
  v.transform(Number),
  v.minValue(1),
  v.maxValue(MAX_WAIT),
);

/** In bytes. */
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
  route(
    {
      name: 'ended-sessions',
      tag: 'documents',
      summary: 'Return the sessions that ended early, and the users who were disabled or deleted, as a signed list',
      ...PUBLIC_READ,
      path: '/.well-known/ended-sessions',
      request: { query: v.strictObject({ wait: v.optional(Wait) }) },
      response: { data: List, unwrapped: { type: 'application/jwt', cacheControl: 'public, max-age=1' } },
    },
    async ({ query: { wait = 0 }, signal }, ctx) => {
      const { bytes, etag } = await feed
        .list({
          has: (tag) => hasTag(ctx, tag),
          wait: Math.min(wait * 1_000, requestTimeout * WAITING),
          client: clientKey(ctx),
          gone: AbortSignal.any([signal, hangUpOf(ctx)]),
        })
        .catch(unavailable);
      if (wait > 0) forgetTime(ctx);
      ctx.set('ETag', etag);
      // `fetch` adds `no-cache` to each request with an entity tag, and Koa would send the whole list (RFC 9110 §13.1.2).
      delete ctx.headers['cache-control'];
      return bytes;
    },
  );

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

/** A request that has waited is not slow. */
const forgetTime = ({ state }: Context): void => {
  state.startedAt = monotonicTime();
  state.arrivedAt = state.startedAt;
};
