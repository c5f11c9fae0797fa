import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { systemClock } from '../adapters/clock/system.ts';
import { createApp, type HttpHandlers } from '../adapters/http/app.ts';
import { type LogSampling, logSampling } from '../adapters/http/logging/log-sampling.ts';
import { isReady, oneAtATime } from '../adapters/http/routes/service/health.ts';
import type { Route } from '../adapters/http/routing/define-route.ts';
import { memoryCounts, type SharedCounts, sharedCounts } from '../adapters/limits/counts.ts';
import { auditLog } from '../adapters/log/audit-log.ts';
import type { PrometheusMetrics, RateLimitMode } from '../adapters/metrics/prometheus.ts';
import { onDatabaseFailure } from '../adapters/records/records.ts';
import { redisCounts } from '../adapters/redis/counts.ts';
import type { RedisClient } from '../adapters/redis/open.ts';
import { assertSteppedUp } from '../application/factors/step-up.ts';
import { authenticate } from '../application/sessions/current-user.ts';
import type { Notice } from '../domain/message.ts';
import { type Closing, closing } from './closing.ts';
import { openPorts } from './compose/open-ports.ts';
import type { Overrides, Ports } from './compose/ports.ts';
import type { WatchedRedis } from './compose/redis-check.ts';
import { storeRefusedLogins } from './compose/refused-logins.ts';
import { openReports } from './compose/reports.ts';
import { declareRoutes, type UseCaseDeps } from './compose/routes.ts';
import { openStorage } from './compose/storage.ts';
import type { Config } from './config.ts';
import { createWakeUp } from './mail/deliver-mail.ts';
import { type MailDelivery, mailDelivery } from './mail/delivery.ts';
import { openTemplates } from './mail/template-files.ts';
import { REVISION, VERSION } from './version.ts';

export type Service = {
  readonly http: HttpHandlers;
  readonly routes: readonly Route[];
  readonly ports: Ports;
  /** `null` unless METRICS is set. */
  readonly metrics: PrometheusMetrics | null;
  /** `null` without mail. */
  readonly mail: MailDelivery | null;
  /** From now on, the service is not ready. */
  readonly announceStop: () => void;
  /** Closes the connections to the database and to Redis. */
  readonly close: () => Promise<void>;
};

/** `serve` closes the caller's own storage. */
type ServiceOverrides = Omit<Overrides, 'close'>;

/** Builds the service, in production and in tests. If that fails, it closes what it opened. */
export const compose = async (config: Config, logger: Logger, overrides: ServiceOverrides = {}): Promise<Service> => {
  const opened = closing();
  try {
    return await build(config, logger, overrides, opened);
  } catch (error) {
    await opened.closeAll().catch(() => undefined);
    throw error;
  }
};

const build = async (
  config: Config,
  logger: Logger,
  overrides: ServiceOverrides,
  opened: Closing,
): Promise<Service> => {
  const { templates, locales: mailLocales } = await openTemplates(config);
  const metrics = config.metrics === null ? null : await loadMetrics();
  if (metrics !== null) opened.add(onDatabaseFailure(metrics.observeDatabaseFailure));
  const wakeUp = createWakeUp();
  const listeners = { onEvents: auditLog(logger, metrics?.observeEvent), onMessages: wakeUp.wake };
  const { storage, checks, clock, connections, close } = await openStorage(
    config,
    logger,
    listeners,
    overrides.storage,
  );
  opened.add(close);
  const redis = config.redisUrls.length === 0 ? null : await openRedis(config.redisUrls, logger);
  opened.add(() => redis?.disconnect());
  const watched = redis && (await import('./compose/redis-check.ts')).watchRedis(redis, logger);
  // The log says at the start whether Redis evicts.
  await watched?.check.ping().catch(() => undefined);
  const counts = openCounts(redis, logger, metrics?.observeFallback);
  const { ports, keySet, hashing } = await openPorts(config, logger, {
    overrides: overrides.ports ?? {},
    storage,
    clock,
    counts,
  });
  const refusals = storeRefusedLogins(ports, logger);
  opened.add(refusals.close);
  const { mailer } = ports;
  const report = openReports({ logger, metrics, countRefusal: refusals.count });
  const parts = { logger, wakeUp, report, templates, isWatched: metrics !== null };
  const mail = mailer === null ? null : mailDelivery(config, { ...ports, mailer }, parts);
  const settings = withoutSecrets(config);
  const deps: UseCaseDeps = { ...settings, ...ports, ...policiesFor(config, ports), pause, report, mailLocales };
  const hasAccountPages = mailer !== null && config.ownAccountPages;
  let isStopping = false;
  const allChecks = [...checks, ...(overrides.checks ?? []), ...(watched === null ? [] : [watched.check])].map(
    oneAtATime,
  );
  const routes = declareRoutes(deps, config, {
    checks: allChecks,
    isStopping: () => isStopping,
    keySet,
    hasAccountPages,
  });
  const sampling = samplingFor(config.environment, logger);
  opened.add(sampling.close);
  const http = createApp(routes, {
    ...settings,
    allowedOrigins: [...config.allowedOrigins, ...pageOriginsOf(config, hasAccountPages)],
    logger,
    sampling,
    counts,
    clock: ports.clock,
    ids: ports.ids,
    authenticate: authenticate(ports),
    assertSteppedUp: assertSteppedUp(ports),
    version: VERSION,
    onRequest: metrics?.observeRequest,
    onUnreadable: metrics?.observeUnreadable,
  });
  metrics?.watch({
    passwordHashes: hashing,
    databaseConnections: connections,
    maxDatabaseConnections: config.database.kind === 'postgresql' ? config.database.poolSize : null,
    rateLimits: () => rateLimitMode(watched, counts),
    isRedisUp: watched && (() => isReady([{ ...watched.check, required: true }])),
    clockOffset: () => ports.clock.now() - systemClock.now(),
    isReady: async () => !isStopping && (await isReady(allChecks)),
    waitingMail: mail?.waiting ?? null,
  });
  const announceStop = () => {
    isStopping = true;
  };
  return { http, routes, ports, metrics, mail, announceStop, close: opened.closeAll };
};

/** The settings that use cases and HTTP get: no keys, and no URLs with passwords. */
const withoutSecrets = ({ keys, factorKeys, mail, redisUrls, database, ...settings }: Config) => settings;

/** The origins of the service itself, if its pages send requests to it, or browsers that hold a key do: they send an Origin then as well. */
const pageOriginsOf = (config: Config, hasAccountPages: boolean): readonly string[] => {
  const sends = config.console || hasAccountPages || config.boundCookieLifetime !== null || config.navigation !== null;
  return sends ? config.ownOrigins : [];
};

/** @throws Error when addresses have to be verified without mail, or second factors are required that nobody can add. */
const policiesFor = (config: Config, { mailer, secrets }: Ports) => {
  const { emailVerification, secondFactor, raceWindow, replayWindow } = config;
  if (mailer === null && emailVerification === 'required')
    throw new Error('EMAIL_VERIFICATION: must not be required without mail: ports.mailer is null');
  if (secrets.factors === null && secondFactor === 'required')
    throw new Error('SECOND_FACTOR: must not be required without FACTOR_KEYS: ports.secrets.factors is null');
  return {
    notices: mailer === null ? new Set<Notice>() : config.notices,
    emailVerification: mailer === null ? ('off' as const) : emailVerification,
    replayPolicy: { raceWindow, replayWindow },
  };
};

/** Imported only with REDIS_URL: its library has some 50 modules. */
const openRedis = async (urls: readonly string[], logger: Logger): Promise<RedisClient> =>
  (await import('../adapters/redis/open.ts')).openOptionalRedis(urls, logger);

/** For all instances through Redis; in the process without one, or while it is unavailable. */
const openCounts = (redis: RedisClient | null, logger: Logger, onFallback?: () => void): SharedCounts => {
  const own = memoryCounts();
  return redis === null
    ? { ...own, isDegraded: () => false }
    : sharedCounts({ shared: redisCounts(redis), own }, logger, onFallback);
};

/** Imported only if metrics are on: its library is slow to load. */
const loadMetrics = async (): Promise<PrometheusMetrics> =>
  (await import('../adapters/metrics/prometheus.ts')).prometheusMetrics({ version: VERSION, revision: REVISION });

const rateLimitMode = (redis: WatchedRedis | null, { isDegraded }: SharedCounts): RateLimitMode => {
  if (redis === null) return 'process';
  return isDegraded() || redis.evicts() ? 'degraded' : 'shared';
};

/** In development every request is logged: all clients are the developer's. */
const samplingFor = (environment: Config['environment'], logger: Logger): LogSampling =>
  environment === 'development'
    ? { admits: ({ level }) => logger.isLevelEnabled(level), close: () => undefined }
    : logSampling(logger);
