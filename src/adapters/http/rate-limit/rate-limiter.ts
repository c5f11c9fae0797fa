import type { Context, Middleware } from 'koa';
import ratelimit from 'koa-ratelimit';
import type { Logger } from 'pino';
import type { Limit } from '../../limits/limit.ts';
import { type OutageMessages, withFallback } from '../../limits/with-fallback.ts';
import { redisCount } from '../../redis/request-count.ts';
import { RateLimitExceeded } from '../errors/exceptions.ts';
import type { HttpDeps } from '../http-deps.ts';
import { clientKey } from '../request/client.ts';
import type { Route } from '../routing/define-route.ts';

/** The value that koa-ratelimit's memory driver stores for a key. */
type Counter = {
  /** The end of its window, in seconds of the driver's own monotonic clock. */
  readonly reset: number;
};

type CountersOptions = {
  /** Milliseconds; the same for all keys. */
  readonly window: number;
  readonly capacity: number;
};

/**
 * The counters of one tier in one process. The driver never removes a key. So each new key removes those whose window has ended, and the
 * oldest beyond `capacity`: a client with many addresses must not exhaust the memory.
 */
export class Counters extends Map<string, Counter> {
  readonly #window: number;
  readonly #capacity: number;
  /** Seconds by which the driver's clock is ahead of `performance.now()`. Constant, since both are monotonic. */
  #ahead = 0;

  constructor({ window, capacity }: CountersOptions) {
    super();
    this.#window = window / 1000;
    this.#capacity = capacity;
  }

  /** Returns a copy: the driver changes it, and concurrent requests must not see each other's changes. */
  override get(key: string): Counter | undefined {
    const counter = super.get(key);
    if (counter === undefined) return undefined;
    const copy = { ...counter };
    super.set(key, copy);
    return copy;
  }

  override set(key: string, counter: Counter): this {
    // A counter is set when its window begins, so the driver's time follows from its end.
    const now = counter.reset - this.#window;
    this.#ahead = now - performance.now() / 1000;
    // The windows of a tier are equally long, so they end in insertion order.
    this.delete(key);
    this.#removeEnded(now);
    return super.set(key, counter);
  }

  /** @param reset of any counter of the driver. */
  secondsUntil(reset: number): number {
    return reset - this.#ahead - performance.now() / 1000;
  }

  #removeEnded(now: number): void {
    for (const [key, { reset }] of this) {
      if (reset > now && this.size < this.#capacity) return;
      this.delete(key);
    }
  }
}

/** Keys at once in a tier: about 20 MB. */
const CAPACITY = 100_000;
const HEADERS = { remaining: 'X-RateLimit-Remaining', reset: 'X-RateLimit-Reset', total: 'X-RateLimit-Limit' };

/** @throws RateLimitExceeded */
export type Admit = (ctx: Context) => Promise<void>;

export type Admission = {
  /** Stage 6, before the user is known. */
  readonly ofClient: Admit;
  /** After the guard; `null`: the route does not count users. */
  readonly ofUser: Admit | null;
};

/** Milliseconds in which the requests of a user are counted. */
const USER_WINDOW = 60_000;

/** One per application. The routes of a tier share a table of counters, and each route has its own keys. */
export const rateLimiter = (
  { rateLimits, redis }: Pick<HttpDeps, 'rateLimits' | 'redis'>,
  shared: SharedCount,
): ((route: Route) => Admission) => {
  const tiers = {
    global: tierOf(rateLimits.global),
    strict: tierOf(rateLimits.strict),
    public: tierOf(rateLimits.public),
  };
  const users = countersFor(USER_WINDOW);
  const countInRedis = redis && redisCount(redis);

  const admit = (limit: Counted, namespace: string, id: (ctx: Context) => string): Admit => {
    const { requests, window, counters } = limit;
    const wait = (seconds: number) => Math.min(Math.ceil(window / 1000), Math.max(1, Math.ceil(seconds)));
    const driver = { max: requests, duration: window, namespace, headers: HEADERS, id };
    const inProcess = admitBy(ratelimit({ ...driver, driver: 'memory', db: counters }), (reset) =>
      wait(counters.secondsUntil(reset)),
    );
    if (countInRedis === null) return inProcess;
    const inRedis: Admit = async (ctx) => {
      const milliseconds = await countInRedis(`${namespace}:${id(ctx)}`, limit);
      if (milliseconds !== null) throw new RateLimitExceeded(wait(milliseconds / 1000));
    };
    return (ctx) =>
      shared.orElse(
        () => inRedis(ctx),
        () => inProcess(ctx),
      );
  };

  return ({ name, throttle, requestsPerUser: requests }) => {
    const tier = tiers[throttle];
    const ofUser = requests === undefined ? null : { requests, window: USER_WINDOW, counters: users };
    return {
      ofClient: tier === null ? async () => undefined : admit(tier, `tandem:limit:${throttle}:${name}`, clientKey),
      ofUser: ofUser && admit(ofUser, `tandem:limit:user:${name}`, userKey),
    };
  };
};

/** Only routes that require a token count users. */
const userKey = ({ request }: Context): string => request.jwtClaim?.sub ?? '';

type Counted = NonNullable<Limit> & { readonly counters: Counters };

const countersFor = (window: number): Counters => new Counters({ window, capacity: CAPACITY });

const tierOf = (limit: Limit): Counted | null => limit && { ...limit, counters: countersFor(limit.window) };

/**
 * Runs the middleware of koa-ratelimit. When it refuses, it writes a response, which stage 13 overwrites.
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

/** Stage 6. SPEC "Rate limiting". */
export const rateLimit = (admit: Admit): Middleware =>
  async function rateLimit(ctx, next) {
    await admit(ctx);
    await next();
  };

export type SharedCount = {
  /** Counts in Redis, or in the process while Redis is unavailable. */
  orElse(inRedis: () => Promise<void>, inProcess: () => Promise<void>): Promise<void>;
  /** Whether the process counts because Redis is unavailable. */
  degraded(): boolean;
};

const MESSAGES: OutageMessages = {
  unavailable: 'Redis is unavailable: each instance counts rate limits for itself',
  available: 'Redis is available again: rate limits are counted for all instances',
};

/**
 * Counts requests for all instances while Redis is available.
 * @param onFallback called for each request that is counted in the process instead.
 */
export const sharedCount = (logger: Logger, onFallback?: () => void): SharedCount => {
  const redis = withFallback(logger, MESSAGES, onFallback);
  return {
    orElse: (inRedis, inProcess) => redis.call(inRedis, inProcess, (error) => error instanceof RateLimitExceeded),
    degraded: redis.isUnavailable,
  };
};
