import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { monotonicTime, random } from '../adapters/clock/system.ts';
import { outageLog } from '../adapters/log/lines.ts';
import type { Waiting } from '../adapters/metrics/prometheus.ts';
import type { Clock } from '../application/ports/clock-and-ids.ts';

export type WakeUpSignal = ReturnType<typeof createWakeUpSignal>;

/** Wakes a loop when there is something to send. */
export const createWakeUpSignal = () => {
  let [isSignalled, isSignalledForAll] = [false, false];
  let resume = (): void => undefined;
  const signalled = (longest: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, longest).unref();
      resume = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  return {
    /** @param isForAll whether to poll for all, also what waits for a poll. */
    wake(isForAll = false): void {
      isSignalled = true;
      isSignalledForAll ||= isForAll;
      resume();
    },
    /** Waits so many milliseconds for a signal, unless there was one since the last wait. For one caller. @returns whether one was for all. */
    async wait(longest: number): Promise<boolean> {
      if (!isSignalled) await signalled(longest);
      const isForAll = isSignalledForAll;
      [isSignalled, isSignalledForAll] = [false, false];
      return isForAll;
    },
  };
};

/**
 * The longest time between two polls, in milliseconds. The time is random, and a wake-up does not change it while few requests for mail
 * wait, so that no stranger can choose when a request is answered.
 */
const POLL_INTERVAL = 5_000;
/** Milliseconds for attempts in progress when the service stops, and again for what is left to return to its store. */
const GRACE = 5_000;

export type DeliveryDeps = {
  /** Begins at most so many attempts, which never reject. @param lastPolledAt epoch milliseconds @throws Error when the store cannot be read */
  readonly send: (room: number, lastPolledAt: number) => Promise<readonly Promise<void>[]>;
  /** How many attempts run at the same time at most. */
  readonly concurrency: number;
  /** What is read, for the log. */
  readonly store: string;
  readonly wakeUp: WakeUpSignal;
  /** Makes attempts in progress fail. */
  readonly abandon: () => void;
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
  /** Called when nothing more is to be sent for now. Never rejects. */
  readonly onIdle?: (() => Promise<void>) | undefined;
};

/** Milliseconds. */
export type DeliveryTimes = { readonly pollInterval?: number; readonly grace?: number };

/** Sends what is stored until `signal` is aborted. Others do not wait for a slow one. */
export const deliver = async (
  { send, concurrency, store, wakeUp, abandon, clock, logger, onIdle }: DeliveryDeps,
  signal: AbortSignal,
  { pollInterval = POLL_INTERVAL, grace = GRACE }: DeliveryTimes = {},
): Promise<void> => {
  const inProgress = new Set<Promise<void>>();
  const polls = randomPolls(clock, pollInterval);
  const begin = async (): Promise<number> => {
    const room = concurrency - inProgress.size;
    const attempts = room === 0 ? [] : await send(room, polls.last());
    for (const attempt of attempts) {
      inProgress.add(attempt);
      attempt.finally(() => {
        inProgress.delete(attempt);
        wakeUp.wake();
      });
    }
    return attempts.length;
  };
  const outage = outageLog(logger, {
    unavailable: `${store} could not be read`,
    available: `${store} can be read again`,
  });
  const beginOrWarn = async (): Promise<number> => {
    try {
      const begun = await begin();
      outage.succeeded();
      return begun;
    } catch (error) {
      outage.failed(error);
      return 0;
    }
  };
  signal.addEventListener('abort', () => wakeUp.wake(), { once: true });
  while (!signal.aborted) {
    const begun = await beginOrWarn();
    if (begun > 0 && inProgress.size < concurrency) continue;
    if (begun === 0) await onIdle?.();
    if (await wakeUp.wait(polls.untilNext())) polls.next();
  }
  const ended = Promise.all(inProgress);
  await Promise.race([ended, pause(grace, undefined, { ref: false })]);
  if (inProgress.size === 0) return;
  abandon();
  await Promise.race([ended, pause(grace, undefined, { ref: false })]);
};

/** Milliseconds from one count of what waits to the next: a count reads a thousand rows, and each event may wake the loop. */
const COUNT_INTERVAL = 1_000;

/** What waits to be sent, for the metrics. @param read since when, in epoch milliseconds; `null` when nothing waits. */
export const countOfWaiting = (
  read: () => Promise<{ readonly count: number; readonly since: number | null }>,
  clock: Clock,
) => {
  let last: Awaited<ReturnType<typeof read>> = { count: 0, since: null };
  let nextAt = 0;
  return {
    /** Counts anew, if the last count is old. While the database fails, the last values stay. */
    update: async (): Promise<void> => {
      if (monotonicTime() < nextAt) return;
      nextAt = monotonicTime() + COUNT_INTERVAL;
      last = await read().catch(() => last);
    },
    waiting: (): Waiting => ({
      count: last.count,
      seconds: last.since === null ? 0 : Math.max(0, (clock.now() - last.since) / 1_000),
    }),
  };
};

/** The times of the polls. Wake-ups do not change them. */
const randomPolls = (clock: Clock, interval: number) => {
  let [last, next] = [clock.now(), monotonicTime()];
  const untilNext = () => Math.max(0, next - monotonicTime());
  return {
    /** When the last one was. Epoch milliseconds. */
    last(): number {
      if (untilNext() > 0) return last;
      last = clock.now();
      next = monotonicTime() + interval * (0.2 + 0.8 * random());
      return last;
    },
    untilNext,
    next(): void {
      next = monotonicTime();
    },
  };
};
