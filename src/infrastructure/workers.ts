import cluster, { type Worker } from 'node:cluster';
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { monotonicTime } from '../adapters/clock/system.ts';
import type { MetricsOfWorker, PrometheusMetrics } from '../adapters/metrics/prometheus.ts';
import type { Closing } from './closing.ts';
import { CommandError } from './command-error.ts';
import type { Config } from './config.ts';
import { listenForMetrics } from './http-server/server.ts';

/** Whether this process was started by a primary process, and serves requests for it. */
export const isWorker = ({ workers }: Pick<Config, 'workers'>): boolean => workers > 1 && cluster.isWorker;

// A process that is about to end cannot be told anything, and needs not be.
const ignore = (): undefined => undefined;

/** Milliseconds between two messages to each worker that listens. */
const BEAT = 5_000;
/** One that answers none of so many, for half a minute, is killed. They are counted, since a machine that sleeps sends none. */
const MOST_BEATS = 6;
const ASKED = 'tandem:asked';

type Answer = { readonly metrics?: MetricsOfWorker };

/** In a worker: answers at once, so that it lives on, and again with its metrics. */
export const answerPrimary = (metrics: PrometheusMetrics | null): void =>
  void process.on('message', (message) => {
    if (message !== ASKED) return;
    process.send?.({}, ignore);
    metrics?.values().then((values) => process.send?.({ metrics: values } satisfies Answer, ignore), ignore);
  });

/** Kills workers that hang. @returns the latest metrics of all: without those of one that hangs, counters would seem to begin anew. */
const watchWorkers = (logger: Logger, opened: Closing): (() => MetricsOfWorker[]) => {
  const watched = new Map<Worker, { beats: number; metrics: MetricsOfWorker }>();
  const ask = (worker: Worker, { beats, metrics } = { beats: 0, metrics: [] as MetricsOfWorker }): void => {
    watched.set(worker, { beats: beats + 1, metrics });
    if (beats < MOST_BEATS) worker.send(ASKED, ignore);
    else worker.process.kill('SIGKILL');
    if (beats > 1) logger.warn({ worker: worker.process.pid, silent: beats * BEAT }, 'a worker does not answer');
  };
  cluster.on('listening', (worker) => ask(worker, watched.get(worker)));
  cluster.on('exit', (worker) => watched.delete(worker));
  cluster.on('message', (worker, answer: Answer | null) => {
    const known = watched.get(worker);
    if (known !== undefined) watched.set(worker, { beats: 0, metrics: answer?.metrics ?? known.metrics });
  });
  const timer = setInterval(() => watched.forEach((known, worker) => void ask(worker, known)), BEAT);
  opened.add(() => clearInterval(timer));
  return () => [...watched.values()].map(({ metrics }) => metrics);
};

/** Milliseconds until a worker that has ended is replaced: doubled each time until one has lived for a while. */
const FIRST_PAUSE = 100;
const LAST_PAUSE = 30_000;
const A_WHILE = 60_000;

type End = { readonly status: number | null; readonly signal: string | null };

const endOf = (worker: Worker): Promise<End> =>
  new Promise((resolve) => {
    worker.once('exit', (status, signal) => resolve({ status, signal }));
    worker.once('error', () => resolve({ status: 1, signal: null }));
  });

/**
 * Starts a worker. Node forgets a connection that it has sent to a worker which ends before it takes it: its client would wait for ever. So the
 * last one for each port is closed then. To close one that was taken does nothing. What is private to Node here: ADR 0034.
 */
const fork = (): Worker => {
  const worker = cluster.fork();
  const last = new Map<unknown, { close(): void }>();
  worker.process.send = new Proxy(worker.process.send, {
    apply(send, child, given) {
      const [message, connection] = given;
      if (typeof connection?.close === 'function') last.set(message.key, connection);
      return Reflect.apply(send, child, given);
    },
  });
  // Another worker gets what this one refuses, since it stops.
  worker.process.on('internalMessage', ({ accepted }) => accepted === false && last.clear());
  worker.once('exit', () => {
    for (const connection of last.values()) connection.close();
  });
  return worker;
};

/**
 * Starts the workers. They share the port. The first one listens before the others start: it has brought the database up to date,
 * and what it cannot do is reported once.
 * @throws CommandError with the exit status of a worker that does not start. It has written its reason to standard error.
 */
export const startWorkers = async (config: Config, logger: Logger, opened: Closing): Promise<void> => {
  const metricsOf = watchWorkers(logger, opened);
  if (config.metrics !== null) {
    const { metricsOfWorkers } = await import('../adapters/metrics/prometheus.ts');
    const metrics = await listenForMetrics(metricsOfWorkers(metricsOf), config.metrics);
    opened.add(metrics.closeNow);
  }
  const stopping = new AbortController();
  const running: Promise<End>[] = [];
  opened.add(async () => {
    stopping.abort();
    for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill();
    const ends = await Promise.all(running);
    if (ends.some(({ status }) => status !== null && status > 0)) throw new Error('a worker failed while it stopped');
  });
  const startOne = async (): Promise<void> => {
    const worker = fork();
    const end = endOf(worker);
    const failure = await Promise.race([
      end,
      new Promise<null>((resolve) => worker.once('listening', () => resolve(null))),
    ]);
    if (failure !== null) throw new CommandError('worker', 'A worker did not start.', failure.status === 2 ? 2 : 1);
    running.push(replaced(worker, end, logger, stopping.signal));
  };
  await startOne();
  await Promise.all(Array.from({ length: config.workers - 1 }, startOne));
  logger.info({ workers: config.workers }, 'all workers listen');
};

/** Starts another worker each time that one ends. @returns how the last one has ended. */
const replaced = async (first: Worker, firstEnd: Promise<End>, logger: Logger, signal: AbortSignal): Promise<End> => {
  let [worker, ended, delay] = [first, firstEnd, FIRST_PAUSE];
  for (;;) {
    const startedAt = monotonicTime();
    const end = await ended;
    if (signal.aborted) return end;
    if (monotonicTime() - startedAt > A_WHILE) delay = FIRST_PAUSE;
    logger.error({ worker: worker.process.pid, ...end, delay }, 'a worker has ended, and is replaced');
    await pause(delay, undefined, { signal }).catch(ignore);
    if (signal.aborted) return end;
    delay = Math.min(2 * delay, LAST_PAUSE);
    worker = fork();
    ended = endOf(worker);
  }
};
