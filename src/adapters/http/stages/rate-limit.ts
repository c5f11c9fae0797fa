import type { Redis } from 'ioredis';
import type { Context, Middleware } from 'koa';
import ratelimit from 'koa-ratelimit';
import { systemClock } from '../../clock/system.ts';
import type { Counts } from '../../limits/counts.ts';
import type { HttpDeps, Limit } from '../http-deps.ts';
import { clientKey } from '../request/client.ts';
import type { Route } from '../routing/define-route.ts';

/** The middleware that limits a route. A list is empty where there is no limit. */
export type RateLimits = {
  /** Stage 6, before the user is known. SPEC "Rate limiting". */
  readonly ofClient: readonly Middleware[];
  /** After the guard, for routes that also count users. */
  readonly ofUser: readonly Middleware[];
};

/** Milliseconds in which the requests of a user are counted. */
const USER_WINDOW = 60_000;

/** Each route has its own counts. They throw 429 with `Retry-After`. */
export const rateLimits = ({ rateLimits: tiers, counts }: Pick<HttpDeps, 'rateLimits' | 'counts'>) => {
  const db = databaseOf(counts);
  const stage = (limit: Limit, namespace: string, id: (ctx: Context) => string): Middleware[] =>
    limit === null
      ? []
      : [
          ratelimit({
            driver: 'redis',
            db,
            duration: limit.window,
            max: limit.requests,
            namespace,
            id,
            disableHeader: true,
            throw: true,
          }),
        ];
  return ({ name, throttle, requestsPerUser }: Route): RateLimits => ({
    ofClient: stage(throttle === 'none' ? null : tiers[throttle], `tandem:requests:${throttle}:${name}`, clientKey),
    ofUser:
      requestsPerUser === undefined
        ? []
        : stage({ requests: requestsPerUser, window: USER_WINDOW }, `tandem:requests:user:${name}`, userKey),
  });
};

/** Only routes that require a token, or an assertion, count users. */
const userKey = ({ request, state }: Context): string => request.jwtClaim?.sub ?? state.operator?.name ?? 'unknown';

/** The only command of the driver: how many requests are left including this one, the end of the window in epoch seconds, and the limit. */
type Database = {
  ratelimiter(key: string, now: number, window: number, max: number): Promise<[left: number, end: number, max: number]>;
};

/**
 * The database of koa-ratelimit's driver. Its own command counts by the clock of each instance: one that is ahead removes what the others
 * counted.
 */
const databaseOf = (counts: Pick<Counts, 'countRequest'>): Redis => {
  const database: Database = {
    async ratelimiter(key, _now, window, max) {
      const { count, left } = await counts.countRequest(key, window);
      // The middleware subtracts the time, and rounds down.
      const end = Math.ceil(systemClock.now() / 1000) + Math.ceil(left / 1000);
      return [Math.max(0, max + 1 - count), end, max];
    },
  };
  // The driver calls nothing else.
  return database as unknown as Redis;
};
