import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { monotonicTime } from '../adapters/clock/system.ts';
import type { MetricsOfWorker, PrometheusMetrics } from '../adapters/metrics/prometheus.ts';
import type { OpenedParts } from './closing.ts';
import { CommandError } from './command-error.ts';
import type { Config } from './config.ts';
import { listenForMetrics } from './http-server/server.ts';

/** Whether this process is a worker, which the primary process has started to serve requests. */
export const isWorker = ({ workers }: Pick<Config, 'workers'>): boolean => workers > 1 && cluster.isWorker;

/** For failures that do not matter, such as that of a message to a process that has just ended. */
const ignore = (): undefined => undefined;

/** Milliseconds after which the primary process pings each listening worker again. */
const PING_INTERVAL = 5_000;
/** After this many unanswered pings, a worker is killed. A limit in time would also kill workers after a sleep of the machine. */
const MAX_UNANSWERED = 6;
const PING = 'tandem:ping';

type Answer = { readonly metrics?: MetricsOfWorker };

/** In a worker: answers each ping of the primary process at once, and if there are metrics, a second time with them. */
export const answerPrimary = (metrics: PrometheusMetrics | null): void =>
  void process.on('message', (message) => {
    if (message !== PING) return;
    process.send?.({}, ignore);
    metrics?.values().then((values) => process.send?.({ metrics: values } satisfies Answer, ignore), ignore);
  });

/** Kills workers that have listened and hang. @returns a function for the last metrics of each running worker, also of one that hangs */
const watchWorkers = (logger: Logger, opened: OpenedParts): (() => MetricsOfWorker[]) => {
  const watchedWorkers = new Map<Worker, { unanswered: number; metrics: MetricsOfWorker }>();
  const ping = (worker: Worker, { unanswered, metrics } = { unanswered: 0, metrics: [] as MetricsOfWorker }): void => {
    watchedWorkers.set(worker, { unanswered: unanswered + 1, metrics });
    if (unanswered < MAX_UNANSWERED) worker.send(PING, ignore);
    else worker.process.kill('SIGKILL');
    const silent = unanswered * PING_INTERVAL;
    if (unanswered > 1) logger.warn({ worker: worker.process.pid, silent }, 'a worker does not answer');
  };
  cluster.on('listening', (worker) => ping(worker, watchedWorkers.get(worker)));
  cluster.on('exit', (worker) => watchedWorkers.delete(worker));
  cluster.on('message', (worker, answer: Answer | null) => {
    const entry = watchedWorkers.get(worker);
    if (entry !== undefined) watchedWorkers.set(worker, { unanswered: 0, metrics: answer?.metrics ?? entry.metrics });
  });
  const timer = setInterval(() => watchedWorkers.forEach((entry, worker) => void ping(worker, entry)), PING_INTERVAL);
  opened.add(() => clearInterval(timer));
  return () => [...watchedWorkers.values()].map(({ metrics }) => metrics);
};

/** Milliseconds until an ended worker is replaced. They double up to `LAST_PAUSE`, and begin again after a worker that has lived for `HEALTHY_AFTER`. */
const FIRST_PAUSE = 100;
const LAST_PAUSE = 30_000;
const HEALTHY_AFTER = 60_000;

type WorkerEnd = { readonly status: number | null; readonly signal: string | null };

const endOf = (worker: Worker): Promise<WorkerEnd> =>
  new Promise((resolve) => {
    worker.once('exit', (status, signal) => resolve({ status, signal }));
    worker.once('error', () => resolve({ status: 1, signal: null }));
  });

/**
 * Starts a worker. If a worker ends before it has accepted a connection that the primary process has sent to it, Node.js leaves the connection open, and
 * the client would wait for ever. So when a worker ends, the last connection sent to each of its ports is closed, which does nothing to an accepted one.
 * The messages that are read here are private to Node.js (ADR 0034).
 */
const fork = (): Worker => {
  const worker = cluster.fork();
  const last = new Map<unknown, { close(): void }>();
  worker.process.send = new Proxy(worker.process.send, {
    apply(send, child, args) {
      const [message, connection] = args;
      if (typeof connection?.close === 'function') last.set(message.key, connection);
      return Reflect.apply(send, child, args);
    },
  });
  // A refused connection is not closed, since Node.js offers it to another worker.
  worker.process.on('internalMessage', ({ accepted }) => accepted === false && last.clear());
  worker.once('exit', () => {
    for (const connection of last.values()) connection.close();
  });
  return worker;
};

/**
 * Starts the workers, which share the ports: one worker, and when it listens, the others. So what prevents every start is reported once.
 * @throws Error that names METRICS; or CommandError without the reason if a worker did not start
 */
export const startWorkers = async (config: Config, logger: Logger, opened: OpenedParts): Promise<void> => {
  const metricsOf = watchWorkers(logger, opened);
  if (config.metrics !== null) {
    const { metricsOfWorkers } = await import('../adapters/metrics/prometheus.ts');
    const metrics = await listenForMetrics(metricsOfWorkers(metricsOf), config.metrics);
    opened.add(metrics.closeNow);
  }
  const stopping = new AbortController();
  const running: Promise<WorkerEnd>[] = [];
  opened.add(async () => {
    stopping.abort();
    for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill();
    const ends = await Promise.all(running);
    if (ends.some(({ status }) => status !== null && status > 0)) throw new Error('a worker failed while it stopped');
  });
  const startOne = async (): Promise<void> => {
    const worker = fork();
    const end = endOf(worker);
    const failure = await Promise.race([end, once(worker, 'listening').then(() => null)]);
    if (failure !== null) throw new CommandError('worker', 'A worker did not start.', failure.status === 2 ? 2 : 1);
    running.push(keepRunning(worker, end, logger, stopping.signal));
  };
  await startOne();
  await Promise.all(Array.from({ length: config.workers - 1 }, startOne));
  logger.info({ workers: config.workers }, 'all workers listen');
};

/** Replaces a worker whenever it ends, until `signal` is aborted. @returns how the last worker has ended */
const keepRunning = async (first: Worker, firstEnd: Promise<WorkerEnd>, logger: Logger, signal: AbortSignal) => {
  let [worker, workerEnd] = [first, firstEnd];
  for (let delay = FIRST_PAUSE; ; delay = Math.min(2 * delay, LAST_PAUSE)) {
    const startedAt = monotonicTime();
    const end = await workerEnd;
    if (signal.aborted) return end;
    if (monotonicTime() - startedAt > HEALTHY_AFTER) delay = FIRST_PAUSE;
    logger.error({ worker: worker.process.pid, ...end, delay }, 'a worker has ended, and is replaced');
    await pause(delay, undefined, { signal }).catch(ignore);
    if (signal.aborted) return end;
    worker = fork();
    workerEnd = endOf(worker);
  }
};
