import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { monotonicTime, random } from '../adapters/clock/system.ts';
import { outageLog } from '../adapters/log/lines.ts';
import type { Backlog } from '../adapters/metrics/prometheus.ts';
import type { Clock } from '../application/ports/clock-and-ids.ts';

export type WakeUpSignal = ReturnType<typeof createWakeUpSignal>;

/** Wakes a delivery loop: when messages or events were stored to be sent, when an attempt ends, and when the loop has to stop. */
export const createWakeUpSignal = () => {
  let [isSignalled, isSignalledForAll] = [false, false];
  let resume = (): void => undefined;
  return {
    /** @param isForAll whether the loop polls at once, so that messages that wait for the next poll are sent as well */
    wake(isForAll = false): void {
      isSignalled = true;
      isSignalledForAll ||= isForAll;
      resume();
    },
    /** Waits up to `longest` ms for a call of `wake`, unless there was one since the last wait. For one caller. @returns whether a call was for all */
    async wait(longest: number): Promise<boolean> {
      if (!isSignalled) {
        const resumed = Promise.withResolvers<void>();
        resume = resumed.resolve;
        const timer = setTimeout(resume, longest).unref();
        await resumed.promise;
        clearTimeout(timer);
      }
      const isForAll = isSignalledForAll;
      [isSignalled, isSignalledForAll] = [false, false];
      return isForAll;
    },
  };
};

/**
 * The longest time between two polls in milliseconds, while there is room for attempts. The time is random, and most calls of `wake` do not change it:
 * a client that asks for a mail must not choose the time of a poll.
 */
const POLL_INTERVAL = 5_000;
/** Milliseconds for which a stop waits at most for attempts in progress. Then it aborts them, and waits at most as long again. */
const GRACE = 5_000;

type DeliveryDeps = {
  /** Begins at most `room` attempts, whose promises never reject. @param lastPolledAt epoch milliseconds. @throws Error if the store fails */
  readonly send: (room: number, lastPolledAt: number) => Promise<readonly Promise<void>[]>;
  readonly concurrency: number;
  /** The name of the store in the log. */
  readonly store: string;
  readonly wakeUp: WakeUpSignal;
  readonly abortAttempts: () => void;
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
  /** Called when no attempt could be begun. Never rejects. */
  readonly onIdle?: (() => Promise<void>) | undefined;
};

export type DeliveryTimes = { readonly pollInterval?: number; readonly grace?: number };

/** Sends stored messages or events until `signal` is aborted, up to `concurrency` of them at the same time. */
export const deliver = async (
  { send, concurrency, store, wakeUp, abortAttempts, clock, logger, onIdle }: DeliveryDeps,
  signal: AbortSignal,
  { pollInterval = POLL_INTERVAL, grace = GRACE }: DeliveryTimes = {},
): Promise<void> => {
  const inProgress = new Set<Promise<void>>();
  const polls = randomPolls(clock, pollInterval);
  const outage = outageLog(logger, {
    unavailable: `${store} could not be read`,
    available: `${store} can be read again`,
  });
  const beginAttempts = async (): Promise<number> => {
    const room = concurrency - inProgress.size;
    try {
      const attempts = room === 0 ? [] : await send(room, polls.beginIfDue());
      outage.succeeded();
      for (const attempt of attempts) {
        inProgress.add(attempt);
        attempt.finally(() => {
          inProgress.delete(attempt);
          wakeUp.wake();
        });
      }
      return attempts.length;
    } catch (error) {
      outage.failed(error);
      return 0;
    }
  };
  signal.addEventListener('abort', () => wakeUp.wake(), { once: true });
  while (!signal.aborted) {
    const startedCount = await beginAttempts();
    if (startedCount > 0 && inProgress.size < concurrency) continue;
    if (startedCount === 0) await onIdle?.();
    if (await wakeUp.wait(polls.untilNext())) polls.pollNow();
  }
  const allAttempts = Promise.all(inProgress);
  await Promise.race([allAttempts, pause(grace, undefined, { ref: false })]);
  if (inProgress.size === 0) return;
  abortAttempts();
  await Promise.race([allAttempts, pause(grace, undefined, { ref: false })]);
};

/** The least milliseconds between two counts. A count reads up to 2,000 rows, and each event may cause one. */
const COUNT_INTERVAL = 1_000;

/** Counts the waiting messages or events for metrics. @param read `since`: since when the oldest one waits; `null` if none waits */
export const countOfWaiting = (
  read: () => Promise<{ readonly count: number; readonly since: number | null }>,
  clock: Clock,
) => {
  let last: Awaited<ReturnType<typeof read>> = { count: 0, since: null };
  let nextAt = 0;
  return {
    /** Counts again if the last count is older than `COUNT_INTERVAL`. While the database fails, the last values stay. */
    update: async (): Promise<void> => {
      if (monotonicTime() < nextAt) return;
      nextAt = monotonicTime() + COUNT_INTERVAL;
      last = await read().catch(() => last);
    },
    waiting: (): Backlog => ({
      count: last.count,
      seconds: last.since === null ? 0 : Math.max(0, (clock.now() - last.since) / 1_000),
    }),
  };
};

const randomPolls = (clock: Clock, interval: number) => {
  let [last, next] = [clock.now(), monotonicTime()];
  const untilNext = () => Math.max(0, next - monotonicTime());
  return {
    /** Begins the next poll if it is due. @returns when the last poll began, in epoch milliseconds */
    beginIfDue(): number {
      if (untilNext() > 0) return last;
      last = clock.now();
      next = monotonicTime() + interval * (0.2 + 0.8 * random());
      return last;
    },
    untilNext,
    pollNow(): void {
      next = monotonicTime();
    },
  };
};
