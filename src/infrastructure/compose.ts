import type { Logger } from 'pino';
import { systemClock } from '../adapters/clock/system.ts';
import { createApp, type HttpHandlers } from '../adapters/http/app.ts';
import { logSampling } from '../adapters/http/logging/log-sampling.ts';
import type { Check } from '../adapters/http/routes/health.ts';
import type { Route } from '../adapters/http/routing/define-route.ts';
import { ulidGenerator } from '../adapters/id-generator/ulid.ts';
import { type PrometheusMetrics, prometheusMetrics, type RateLimitMode } from '../adapters/metrics/prometheus.ts';
import { zxcvbnPasswordBlocklist } from '../adapters/password-blocklist/zxcvbn.ts';
import { bcryptPasswordHasher } from '../adapters/password-hasher/bcrypt.ts';
import { authenticate } from '../application/use-cases/authenticate.ts';
import { countLoginAttempts } from './compose/login-attempts.ts';
import type { Ports } from './compose/ports.ts';
import { declareRoutes } from './compose/routes.ts';
import { openStorage } from './compose/storage.ts';
import { openTokens } from './compose/tokens.ts';
import type { Config } from './config.ts';
import { awaitRedis, connectRedis, type RedisClient } from './redis.ts';
import { VERSION } from './version.ts';

export type Service = {
  readonly http: HttpHandlers;
  readonly routes: readonly Route[];
  readonly ports: Ports;
  /** What Prometheus is told, where METRICS asks for it. */
  readonly metrics: PrometheusMetrics | null;
  /** Lets go of the database and of Redis. */
  readonly close: () => Promise<void>;
};

/** The part of a request's time that a password may wait to be hashed. */
const HASHING_WAIT = 1 / 3;

/** Puts the service together: the same in production and in tests, which may replace ports. */
export const compose = async (config: Config, logger: Logger, overrides: Partial<Ports> = {}): Promise<Service> => {
  const storage = await openStorage(config, logger);
  const redis = config.redisUrls.length === 0 ? null : connectRedis(config.redisUrls, logger);
  if (redis !== null) await awaitRedis(redis);
  const metrics = config.metrics === null ? null : prometheusMetrics();
  const hasher = bcryptPasswordHasher({ cost: config.bcryptCost, maxWait: config.requestTimeout * HASHING_WAIT });
  const clock = overrides.clock ?? systemClock;
  const { tokens, keySet } = await openTokens(config, overrides);
  const ports: Ports = {
    users: storage.users,
    sessions: storage.sessions,
    tokens,
    hasher,
    blocklist: config.passwordBlocklist === 'common' ? await zxcvbnPasswordBlocklist() : null,
    attempts: countLoginAttempts(redis, logger),
    clock,
    ids: ulidGenerator(clock),
    ...overrides,
  };
  const checks = redis === null ? storage.checks : [...storage.checks, redisCheck(redis)];
  const hooks = {
    onRefresh: metrics?.observeRefresh,
    onRehashFailed: (error: unknown) => logger.warn({ err: error }, 'a password hash could not be renewed'),
  };
  const routes = declareRoutes(config, { ...ports, ...hooks }, checks, keySet);
  const sampling = logSampling(logger);
  const http = createApp(routes, {
    ...config,
    ...ports,
    logger,
    sampling,
    redis,
    authenticate: authenticate(ports),
    version: VERSION,
    onRequest: metrics?.observeRequest,
    onUnreadable: metrics?.observeUnreadable,
  });
  metrics?.watch({
    passwordHashes: hasher.load,
    databaseConnections: storage.connections,
    rateLimits: () => rateLimitMode(redis, http),
  });
  const close = async () => {
    sampling.close();
    redis?.disconnect();
    await storage.close();
  };
  return { http, routes, ports, metrics, close };
};

const rateLimitMode = (redis: RedisClient | null, { limitsDegraded }: HttpHandlers): RateLimitMode => {
  if (redis === null) return 'process';
  return limitsDegraded() ? 'degraded' : 'shared';
};

/** Limits are counted in the process while Redis is away. */
const redisCheck = (redis: RedisClient): Check => ({ name: 'redis', ping: () => redis.ping(), required: false });
