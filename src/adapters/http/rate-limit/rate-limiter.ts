import type { Context, Middleware } from 'koa';
import ratelimit from 'koa-ratelimit';
import { RateLimitExceeded } from '../errors/exceptions.ts';
import type { HttpDeps, Limit } from '../http-deps.ts';
import type { Route } from '../routing/define-route.ts';
import { clientKey } from './client-key.ts';
import { Counters } from './counters.ts';
import { redisCount } from './redis-count.ts';
import type { SharedCount } from './shared-count.ts';

/** Keys at once in a tier: about 20 MB. */
const CAPACITY = 100_000;
const HEADERS = { remaining: 'X-RateLimit-Remaining', reset: 'X-RateLimit-Reset', total: 'X-RateLimit-Limit' };

/** @throws RateLimitExceeded */
export type Admit = (ctx: Context) => Promise<void>;

/** One per application. The routes of a tier share a table of counters, and each route has its own keys. */
export const rateLimiter = (
  { rateLimits, redis }: Pick<HttpDeps, 'rateLimits' | 'redis'>,
  shared: SharedCount,
): ((route: Route) => Admit) => {
  const tiers = {
    global: tierOf(rateLimits.global),
    strict: tierOf(rateLimits.strict),
    public: tierOf(rateLimits.public),
  };
  const countInRedis = redis && redisCount(redis);
  return ({ name, throttle }) => {
    const tier = tiers[throttle];
    if (tier === null) return async () => undefined;
    const { requests, window, counters } = tier;
    const namespace = `tandem:limit:${throttle}:${name}`;
    const wait = (seconds: number) => Math.min(Math.ceil(window / 1000), Math.max(1, Math.ceil(seconds)));
    const driver = { max: requests, duration: window, namespace, headers: HEADERS, id: clientKey };
    const inProcess = admitBy(ratelimit({ ...driver, driver: 'memory', db: counters }), (reset) =>
      wait(counters.secondsUntil(reset)),
    );
    if (countInRedis === null) return inProcess;
    const inRedis: Admit = async (ctx) => {
      const milliseconds = await countInRedis(`${namespace}:${clientKey(ctx)}`, tier);
      if (milliseconds !== null) throw new RateLimitExceeded(wait(milliseconds / 1000));
    };
    return (ctx) =>
      shared.orElse(
        () => inRedis(ctx),
        () => inProcess(ctx),
      );
  };
};

const tierOf = (limit: Limit) =>
  limit && { ...limit, counters: new Counters({ window: limit.window, capacity: CAPACITY }) };

/**
 * When the middleware refuses, it writes a response of its own by the system's clock; stage 13 overwrites it.
 * @param retryAfter converts the driver's `reset` to whole seconds to wait.
 */
const admitBy =
  (middleware: Middleware, retryAfter: (reset: number) => number): Admit =>
  async (ctx) => {
    let admitted = false;
    await middleware(ctx, async () => {
      admitted = true;
    });
    const reset = Number(ctx.response.get(HEADERS.reset));
    for (const name of Object.values(HEADERS)) ctx.remove(name);
    if (!admitted) throw new RateLimitExceeded(retryAfter(reset));
  };
