import type { Redis } from 'ioredis';
import type { Context, Middleware } from 'koa';
import ratelimit from 'koa-ratelimit';
import type { Route } from '../define-route.ts';
import { RateLimitExceeded } from '../exceptions.ts';
import type { HttpDeps, Limit } from '../http-deps.ts';
import { clientKey } from './client-key.ts';
import { Counters } from './counters.ts';
import type { SharedCount } from './shared-count.ts';

/** Keys counted at once in a tier; some 20 MB. */
const CAPACITY = 100_000;
const HEADERS = { remaining: 'X-RateLimit-Remaining', reset: 'X-RateLimit-Reset', total: 'X-RateLimit-Limit' };

/** Admits a request to a route, or throws RateLimitExceeded. */
export type Admit = (ctx: Context) => Promise<void>;

/** One per application: routes of a tier share its table of counters, under keys of their own. */
export const rateLimiter = (
  { rateLimits, redis }: Pick<HttpDeps, 'rateLimits' | 'redis'>,
  shared: SharedCount,
): ((route: Route) => Admit) => {
  const counters = { global: new Counters(CAPACITY), strict: new Counters(CAPACITY), public: new Counters(CAPACITY) };
  return ({ name, throttle }) => {
    const limit = rateLimits[throttle];
    if (limit === null) return async () => undefined;
    const common = {
      ...windowOf(limit),
      namespace: `tandem:limit:${throttle}:${name}`,
      headers: HEADERS,
      id: clientKey,
    };
    const inProcess = admitBy(limit.window, ratelimit({ ...common, driver: 'memory', db: counters[throttle] }));
    if (redis === null) return inProcess;
    // A cluster will do: the driver sends one script, of one key.
    const inRedis = admitBy(limit.window, ratelimit({ ...common, driver: 'redis', db: redis as Redis }));
    return (ctx) =>
      shared.orElse(
        () => inRedis(ctx),
        () => inProcess(ctx),
      );
  };
};

const windowOf = ({ requests, window }: NonNullable<Limit>) => ({ max: requests, duration: window });

/** The middleware writes an answer of its own when it refuses; stage 13 writes ours over it. */
const admitBy =
  (window: number, middleware: Middleware): Admit =>
  async (ctx) => {
    let admitted = false;
    await middleware(ctx, async () => {
      admitted = true;
    });
    const reset = Number(ctx.response.get(HEADERS.reset));
    for (const name of Object.values(HEADERS)) ctx.remove(name);
    if (!admitted) throw new RateLimitExceeded(secondsUntil(reset, window));
  };

/**
 * @param reset epoch seconds; the Redis driver rounds them down. Another instance's clock may be ahead by hours, and nobody
 *   need stay away longer than a window.
 */
const secondsUntil = (reset: number, window: number): number => {
  const until = Number.isInteger(reset) ? reset + 1 : reset;
  return Math.min(Math.ceil(window / 1000), Math.max(1, Math.ceil(until - Date.now() / 1000)));
};
