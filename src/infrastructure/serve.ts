import { setTimeout as pause } from 'node:timers/promises';
import { idsOfRequest } from '../adapters/http/stages/arrival.ts';
import type { OwnTables } from '../adapters/records/own-tables.ts';
import { type Closing, closing } from './closing.ts';
import type { Overrides } from './compose/ports.ts';
import type { Config } from './config.ts';
import { listenForMetrics } from './http-server/metrics-server.ts';
import { addressText, listen, listenForOperators, probePort, SETTINGS } from './http-server/server.ts';
import { type Log, openLog } from './logging/log.ts';
import { purge } from './purge.ts';
import { SIGNALS_OF_NPM, stopAtSignals } from './signals.ts';
import { answerPrimary, isWorker, startWorkers } from './workers.ts';

/**
 * Starts the service. If that fails, it closes everything that was opened, including the caller's storage. With WORKERS above 1, this process only
 * starts others, which run the same program: there, this function serves requests.
 * SIGTERM and SIGINT stop it, unless `stopsAtSignals` is false.
 * @param overrides replacements for parts of the service
 * @returns a function that stops the service: it takes requests for SHUTDOWN_DELAY, responds to every accepted one, then closes all
 *   connections. `why` is logged. Further calls wait for the first one.
 * @throws Error that names the invalid setting
 *
 * @example
 * const stop = await serve(parseConfig(process.env), { storage, close: () => database.close() });
 */
export const serve = async <const Own extends OwnTables = Record<never, never>>(
  config: Config,
  overrides: Overrides<Own> = {},
): Promise<(why: string) => Promise<void>> => {
  const opened = closing();
  if (overrides.close !== undefined) opened.add(overrides.close);
  try {
    const stop = await start(config, overrides, opened);
    if (overrides.stopsAtSignals === false) return stop;
    // Whether npm has started the program is not known here.
    return stopAtSignals(stop, isWorker(config) ? Number.POSITIVE_INFINITY : SIGNALS_OF_NPM, (error) => {
      throw error;
    });
  } catch (error) {
    // The reason why it did not start matters more.
    await opened.closeAll().catch(() => undefined);
    throw error;
  }
};

type Stop = (why: string) => Promise<void>;

const start = async (config: Config, overrides: Overrides, opened: Closing): Promise<Stop> => {
  // The last thing that is closed: a worker without it ends.
  if (isWorker(config)) opened.add(() => process.disconnect?.());
  const log = await openLog(config, 'stdout', idsOfRequest);
  opened.add(log.close);
  if (isWorker(config)) return once(await serveRequests(config, overrides, opened, log));
  for (const warning of config.warnings) log.logger.warn(warning);
  // Before the database is created: a service whose port is taken leaves nothing behind.
  await probePort({ ...config, settings: SETTINGS.service });
  if (config.metrics !== null) await probePort({ ...config.metrics, settings: SETTINGS.metrics });
  if (config.admin !== null) await probePort({ ...config.admin, settings: SETTINGS.admin });
  if (config.workers === 1) return once(await serveRequests(config, overrides, opened, log));
  await startWorkers(config, log.logger, opened);
  return once(() => opened.closeAll());
};

/** Only the first call stops. */
const once = (stop: Stop): Stop => {
  let stopping: Promise<void> | undefined;
  return (why) => {
    stopping ??= stop(why);
    return stopping;
  };
};

const serveRequests = async (
  config: Config,
  overrides: Overrides,
  opened: Closing,
  { logger, lostLines }: Log,
): Promise<Stop> => {
  // The process that starts workers does without it.
  const { compose } = await import('./compose.ts');
  const service = await compose(config, logger, overrides);
  opened.add(service.close);
  service.metrics?.watchLog(lostLines);
  if (isWorker(config)) answerPrimary(service.metrics);
  else if (config.metrics !== null && service.metrics !== null) {
    const metrics = await listenForMetrics(service.metrics, config.metrics);
    opened.add(metrics.closeNow);
  }
  if (config.admin !== null && service.backOffice !== null) {
    const { requestTimeout } = config;
    const admin = await listenForOperators(service.backOffice.http, { ...config.admin, requestTimeout });
    opened.add(admin.close);
    const { address, port } = admin.address;
    logger.info({ url: config.admin.url }, `The back office is listening on ${addressText(address, port)}`);
  }
  const server = await listen(service.http, config);
  const background = new AbortController();
  const { eventsRetention, accessLifetime } = config;
  const purging = purge(
    { ...service.ports, eventsRetention, accessLifetime },
    logger,
    background.signal,
    service.metrics?.observePurged,
  );
  const delivering = Promise.all([
    service.mail?.deliver(background.signal),
    service.webhooks.deliver(background.signal),
  ]);
  opened.add(() => Promise.all([server.close(), purging, delivering]));
  const { address } = server;
  logger.info({ address, url: config.baseUrl }, `Tandem is listening on ${addressText(address.address, address.port)}`);
  return async (why) => {
    logger.info({ why, delay: config.shutdownDelay }, 'Tandem is stopping');
    service.announceStop();
    await pause(config.shutdownDelay);
    background.abort();
    await opened.closeAll();
  };
};
