import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { idsOfRequest } from '../adapters/http/stages/arrival.ts';
import type { OwnTables } from '../adapters/records/own-tables.ts';
import { logOperatorEvents } from '../application/accounts/operate-accounts.ts';
import { type Purge, type PurgeDeps, purges, removeMassEnded, type Task } from '../application/sessions/purge.ts';
import { closingOnFailure, type OpenedParts } from './closing.ts';
import type { Overrides } from './compose/ports.ts';
import type { Config } from './config.ts';
import { addressText, listen, listenForMetrics, probePort } from './http-server/server.ts';
import { type Log, openLog } from './logging/log.ts';
import { SIGNALS_OF_NPM, type Stop, stopAtSignals } from './signals.ts';
import { answerPrimary, isWorker, startWorkers } from './workers.ts';

/**
 * Starts the service. If that fails, all opened parts are closed, and `overrides.close` is called. With WORKERS above 1, the first process starts worker
 * processes, which run the same program, and serve the requests.
 * @returns a function that stops the service, as SIGTERM and SIGINT do unless `stopsAtSignals` is `false`: the service accepts requests for
 *   SHUTDOWN_DELAY, answers them, and closes all connections. With one process, `why` is logged. Further calls wait for the first one.
 * @throws for instance Error that names the invalid setting
 *
 * @example
 * const stop = await serve(parseConfig(process.env), { storage, close: () => database.close() });
 */
export const serve = async <const Own extends OwnTables = Record<never, never>>(
  config: Config,
  overrides: Overrides<Own> = {},
): Promise<(why: string) => Promise<void>> =>
  closingOnFailure(async (opened) => {
    // Added first, so it is called last: a worker ends when it disconnects from the primary process. `setImmediate` lets an error be thrown first.
    if (isWorker(config)) opened.add(() => void setImmediate(() => process.disconnect?.()));
    if (overrides.close !== undefined) opened.add(overrides.close);
    const stop = await start(config, overrides, opened);
    if (overrides.stopsAtSignals === false) return stop;
    // `SIGNALS_OF_NPM`, since npm may have started the program.
    return stopAtSignals(stop, isWorker(config) ? Number.POSITIVE_INFINITY : SIGNALS_OF_NPM, (error) => {
      throw error;
    });
  });

const start = async (config: Config, overrides: Overrides, opened: OpenedParts): Promise<Stop> => {
  const log = await openLog(config, 'stdout', idsOfRequest);
  opened.add(log.close);
  if (isWorker(config)) return callOnce(await serveRequests(config, overrides, opened, log));
  for (const warning of config.warnings) log.logger.warn(warning);
  // Ports are checked before the database is created: if one is taken, the failed start leaves no files.
  await probePort(config);
  if (config.metrics !== null) await probePort(config.metrics, 'METRICS');
  if (config.admin !== null) await probePort(config.admin, 'ADMIN_HOST and ADMIN_PORT');
  if (config.workers === 1) return callOnce(await serveRequests(config, overrides, opened, log));
  await startWorkers(config, log.logger, opened);
  return callOnce(() => opened.closeAll());
};

const callOnce = (stop: Stop): Stop => {
  let stopping: Promise<void> | undefined;
  return (why) => {
    stopping ??= stop(why);
    return stopping;
  };
};

const serveRequests = async (
  config: Config,
  overrides: Overrides,
  opened: OpenedParts,
  { logger, lostLines }: Log,
): Promise<Stop> => {
  // Loaded here, since the process that starts workers does not need it.
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
    const options = { ...config.admin, requestTimeoutMs: config.requestTimeoutMs };
    const admin = await listen(service.backOffice.http, options, 'ADMIN_HOST and ADMIN_PORT');
    opened.add(admin.close);
    const { address, port } = admin.address;
    logger.info({ url: config.admin.url }, `The back office is listening on ${addressText(address, port)}`);
  }
  const server = await listen(service.http, config);
  const background = new AbortController();
  const { eventsRetention, jwtAccessExpiresIn } = config;
  const deps = { ...service.ports, eventsRetention, jwtAccessExpiresIn };
  const purging = purge(deps, logger, background.signal, service.metrics?.observePurged);
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

/** The limit of rows in a batch: small, since other transactions may wait for its locks. */
const BATCH_SIZE = 100;
/** Milliseconds between two batches of a mass ending, which is not urgent: its sessions are refused already. */
const PAUSE_MS = 250;
const PURGE_INTERVAL_MS = 60_000;

/**
 * Repeats each of the `TASKS` until `signal` is aborted, by default a minute after its end.
 * @param onDone called when a task has dealt with all rows that were due
 */
export const purge = async (
  deps: PurgeDeps,
  logger: Logger,
  signal: AbortSignal,
  onDone: (task: Task) => void = () => undefined,
  interval = PURGE_INTERVAL_MS,
): Promise<void> => {
  const repeat = async (task: Task, batch: Purge): Promise<void> => {
    let count = 0;
    while (!signal.aborted) {
      try {
        const rowCount = await batch(BATCH_SIZE);
        count += rowCount;
        if (rowCount >= BATCH_SIZE) continue;
        onDone(task);
      } catch (error) {
        logger.warn({ err: error, rows: task }, 'rows could not be purged');
      }
      // Not for the two tasks that return the limit while work is left, nor for `operations`: the acts of operators have log lines of their own.
      if (count > 0 && !['operations', 'mass-endings', 'counts'].includes(task))
        logger.info({ rows: task, count }, 'purged');
      count = 0;
      await wait(interval);
    }
  };
  const wait = (duration: number) => pause(duration, undefined, { signal, ref: false }).catch(() => undefined);
  const removeNext = removeMassEnded(deps);
  // Returns `limit`, as for a full batch, as long as there are sessions to remove.
  const massEndings = async (limit: number) => {
    if ((await removeNext(limit)) === null) return 0;
    await wait(PAUSE_MS);
    return limit;
  };
  const tasks = { ...purges(deps), 'mass-endings': massEndings, operations: logOperatorEvents(deps) };
  await Promise.all((Object.entries(tasks) as [Task, Purge][]).map((each) => repeat(...each)));
};
