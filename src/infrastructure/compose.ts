import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { systemClock } from '../adapters/clock/system.ts';
import { encryptionFromSecret } from '../adapters/crypto/secrets.ts';
import { createApp } from '../adapters/http/app.ts';
import { repeatedRequests } from '../adapters/http/forms/repeated-requests.ts';
import type { HttpDeps } from '../adapters/http/http-deps.ts';
import { logSampling, withoutSampling } from '../adapters/http/logging/log-sampling.ts';
import { type EndedFeed, endedFeed as feedOf } from '../adapters/http/routes/service/ended-sessions.ts';
import { areUp, withSharedPing } from '../adapters/http/routes/service/health.ts';
import type { Counts } from '../adapters/limits/counts.ts';
import { auditLog } from '../adapters/log/lines.ts';
import { type OwnTables, ownRecords } from '../adapters/records/own-tables.ts';
import { onDatabaseFailure } from '../adapters/records/storage.ts';
import { assertSteppedUp } from '../application/factors/step-up.ts';
import type { SenderFor } from '../application/ports/hooks.ts';
import type { Ports, Service } from '../application/service.ts';
import { authenticateRequest } from '../application/sessions/current-user.ts';
import { listEnded } from '../application/storage/events.ts';
import type { Stores } from '../application/storage/records.ts';
import { endedList, listedSince, MAX_LISTED } from '../domain/ended-session.ts';
import type { NoticeGroup } from '../domain/event-table.ts';
import { closingOnFailure, type OpenedParts } from './closing.ts';
import { openHooks } from './compose/hooks.ts';
import { openLimits } from './compose/limits.ts';
import { userFailures } from './compose/pages.ts';
import { type Overrides, openPorts, type ServiceWith } from './compose/ports.ts';
import { openProviders, postedCallbacksOf } from './compose/providers.ts';
import { openReports, openTracing, storeRefusedLogins } from './compose/reports.ts';
import { declareRoutes } from './compose/routes.ts';
import { assertHasTables, openStorage } from './compose/storage.ts';
import type { Config } from './config.ts';
import { mailDelivery, webhookDelivery } from './delivery.ts';
import { createWakeUpSignal } from './delivery-loop.ts';
import { openTemplates } from './template-files.ts';
import { REVISION, VERSION } from './version.ts';

type ServiceOverrides = Omit<Overrides, 'close' | 'stopsAtSignals'> & {
  readonly counts?: Counts;
  readonly senderFor?: SenderFor;
  readonly providers?: Service['providers'];
};

export type RunningService = Awaited<ReturnType<typeof compose>>;

/** Builds the service, in production and in tests. If that fails, it closes the parts that it has opened. */
export const compose = (config: Config, logger: Logger, overrides: ServiceOverrides = {}) =>
  closingOnFailure((opened) => build(config, logger, overrides, opened));

const openParts = async (config: Config, logger: Logger, overrides: ServiceOverrides, opened: OpenedParts) => {
  const { mails: templates, pages: pageFiles, locales: mailLocales } = await openTemplates(config);
  const buildInfo = { version: VERSION, revision: REVISION };
  // Loaded only if metrics are on, since their library is slow to load.
  const metrics = config.metrics && (await import('../adapters/metrics/prometheus.ts')).prometheusMetrics(buildInfo);
  if (metrics !== null) opened.add(onDatabaseFailure(metrics.observeDatabaseFailure));
  opened.add(await openTracing(config.tracing, logger, metrics?.observeLostSpans));
  const [mailWakeUp, webhookWakeUp] = [createWakeUpSignal(), createWakeUpSignal()];
  const observers = metrics === null ? [] : [metrics.observeEvent];
  const onEvents = auditLog(logger, observers);
  let endedFeed: EndedFeed | null = null;
  const listeners = {
    ...{ onEvents, onOperatorEvents: onEvents, onEnded: () => endedFeed?.notify() },
    ...{ onMessages: mailWakeUp.wake, onDeliveries: () => webhookWakeUp.wake() },
  };
  const database = await openStorage(config, logger, listeners, overrides);
  opened.add(database.close);
  await assertHasTables(database.storage, overrides.tables);
  const limits = await openLimits(config, logger, opened, metrics?.observeFallback, overrides.counts);
  const parts = { ...database, ...limits, overrides: overrides.ports, observeHook: metrics?.observeHook };
  const { ports, keySet, hashing } = await openPorts(config, logger, parts);
  const hooks = await openHooks(config, overrides.hooks, { ...ports, logger }, metrics?.observeHook);
  opened.add(hooks.close);
  if (hooks.afterCommit !== undefined) observers.push(hooks.afterCommit);
  endedFeed = openEndedFeed(ports, config);
  const refusals = storeRefusedLogins(ports, logger);
  opened.add(refusals.close);
  const report = openReports({ logger, metrics, countRefusal: refusals.count });
  const reporting = { logger, report, isWatched: metrics !== null };
  const { mailer } = ports;
  const mail = mailer && mailDelivery(config, { ...ports, mailer }, { ...reporting, wakeUp: mailWakeUp, templates });
  const webhooks = webhookDelivery(config, ports, { ...reporting, wakeUp: webhookWakeUp }, overrides.senderFor);
  return {
    ...{ database, limits, ports, keySet, hashing, hooks, pageFiles, mailLocales },
    ...{ metrics, report, endedFeed, mail, webhooks },
  };
};

const build = async (config: Config, logger: Logger, overrides: ServiceOverrides, opened: OpenedParts) => {
  const parts = await openParts(config, logger, overrides, opened);
  const { database, limits, ports, keySet, hooks, pageFiles, metrics, report, endedFeed, mail, webhooks } = parts;
  const { mailLocales, hashing } = parts;
  let isStopping = false;
  const checks = [...database.checks, ...(overrides.checks ?? []), ...limits.checks].map(withSharedPing);
  const settings = withoutSecrets(config);
  const deps: Service = {
    ...settings,
    ...ports,
    ...policiesFor(config, ports),
    pause,
    report,
    mailLocales,
    beforeRegister: hooks.beforeRegister,
    claims: hooks.claims,
    verifyFormerPassword: hooks.verifyFormerPassword,
    providers: overrides.providers ?? (await openProviders(config)),
  };
  const hasAccountPages = ports.mailer !== null && config.ownAccountPages;
  const answerOnce = repeatedRequests(limits.counts, encryptionFromSecret, ports.secrets.random);
  const { routes, visitorToken } = declareRoutes(deps, config, {
    answerOnce,
    checks,
    isStopping: () => isStopping,
    keySet,
    endedFeed,
    hasAccountPages,
    pageFiles,
    own: overrides.routes?.(forOwnRoutes(ports)) ?? [],
  });
  const sampling = config.nodeEnv === 'development' ? withoutSampling(logger) : logSampling(logger);
  opened.add(sampling.close);
  const httpDeps: HttpDeps & { readonly trustProxy: number } = {
    ...settings,
    allowedOrigins: [...config.allowedOrigins, ...callingOriginsOf(config, hasAccountPages)],
    postedCallbacks: postedCallbacksOf(deps.providers),
    logger,
    sampling,
    counts: limits.counts,
    answerOnce,
    clock: ports.clock,
    ids: ports.ids,
    authenticate: authenticateRequest(ports),
    assertSteppedUp: assertSteppedUp(ports),
    visitorToken,
    renderUserError: userFailures(config, pageFiles),
    version: VERSION,
    onRequest: metrics?.observeRequest,
    onUnreadable: metrics?.observeUnreadable,
  };
  const backOffice =
    config.admin &&
    (await (await import('./compose/back-office.ts')).openBackOffice(config.admin, { ...settings, ...deps }, httpDeps));
  metrics?.watch({
    passwordHashes: hashing,
    endedSessions: () => endedFeed?.counts() ?? { listed: 0, waiting: 0 },
    databaseConnections: database.connections,
    maxDatabaseConnections: config.database.kind === 'postgresql' ? config.database.poolSize : null,
    rateLimits: limits.mode,
    isRedisUp: limits.isRedisUp,
    clockOffset: () => ports.clock.now() - systemClock.now(),
    isReady: async () => !isStopping && (await areUp(checks.filter(({ required }) => required))),
    isDegraded: async () => !(await areUp(checks.filter(({ required }) => !required))),
    waitingMail: mail?.waiting ?? null,
    waitingWebhooks: webhooks.waiting,
  });
  const announceStop = () => {
    isStopping = true;
    endedFeed?.stop();
  };
  const http = createApp(routes, httpDeps);
  return { http, routes, backOffice, ports, deps, metrics, mail, webhooks, announceStop, close: opened.closeAll };
};

/** The feed of ended sessions; `null` if the signer of tokens, which callers can replace, cannot sign it. */
const openEndedFeed = ({ records, tokens, clock }: Ports, { jwtAccessExpiresIn }: Config): EndedFeed | null => {
  const sign = tokens.signEnded?.bind(tokens);
  if (sign === undefined) return null;
  return feedOf({
    read: async () => {
      const ended = await listEnded(records, listedSince(clock.now(), jwtAccessExpiresIn), MAX_LISTED + 1);
      return { list: endedList(ended, jwtAccessExpiresIn), ids: ended.map(({ id }) => id) };
    },
    sign: (list) => sign(list, clock.now()),
  });
};

const forOwnRoutes = (ports: Ports): ServiceWith<OwnTables> => {
  const withOwnRecords = ({ records, ...stores }: Stores) => ({ ...stores, records: ownRecords(records) });
  return {
    ...ports,
    records: ownRecords(ports.records),
    transactions: { run: (work) => ports.transactions.run((stores) => work(withOwnRecords(stores))) },
  };
};

const withoutSecrets = ({ keys, factorKeys, hookPrivateKey, hookBeforeRegister, admin, ...config }: Config) => {
  const { verifyPasswords, mail, redisUrl, database, providers, ...settings } = config;
  return settings;
};

/** The service's own origins, if its pages or browsers that hold the key of a session send requests from them. */
const callingOriginsOf = (config: Config, hasAccountPages: boolean): readonly string[] => {
  const sends =
    config.console ||
    config.accountPages ||
    hasAccountPages ||
    config.boundCookieLifetime !== null ||
    config.navigation !== null;
  return sends ? config.ownOrigins : [];
};

/** @throws Error if a setting needs mail, or the keys of second factors, and the ports have none */
const policiesFor = (config: Config, { mailer, secrets }: Ports) => {
  const { emailVerification, secondFactor } = config;
  if (mailer === null && config.loginByCode)
    throw new Error('LOGIN_BY_CODE: must be off without mail: ports.mailer is null');
  if (mailer === null && config.newDeviceCode !== 'off')
    throw new Error('NEW_DEVICE_CODE: must be off without mail: ports.mailer is null');
  if (mailer === null && emailVerification === 'required')
    throw new Error('EMAIL_VERIFICATION: must not be required without mail: ports.mailer is null');
  if (secrets.factors === null && secondFactor === 'required')
    throw new Error('SECOND_FACTOR: must not be required without FACTOR_KEYS: ports.secrets.factors is null');
  return {
    mailNotices: mailer === null ? new Set<NoticeGroup>() : config.mailNotices,
    emailVerification: mailer === null ? ('off' as const) : emailVerification,
  };
};
