import pLimit from 'p-limit';
import { AppError } from '../../domain/errors/app-error.ts';
import { monotonicTime } from '../clock/system.ts';

export type QueueLoad = { readonly running: number; readonly waiting: number };

type BoundedQueueOptions = {
  readonly width: number;
  /** Milliseconds that a task may wait. Its wait is estimated from the duration of recent tasks. */
  readonly maxWait: number;
  /** Milliseconds that a task is expected to take, before any was measured. */
  readonly expectedDuration?: number;
  /** Milliseconds of a monotonic clock. */
  readonly now?: () => number;
};

/** The weight of each task in the moving average of durations. */
const WEIGHT = 1 / 8;

/**
 * Runs at most `width` tasks at once, in the order of their arrival. Rejects a task that would have to wait longer than `maxWait`, with AppError
 * SYS_HTTP_UNEXPECTED_ERROR, status 503 and `retryAfter`.
 */
export const boundedQueue = ({ width, maxWait, expectedDuration = 50, now = monotonicTime }: BoundedQueueOptions) => {
  const limit = pLimit(width);
  let average = expectedDuration;
  const timed = async <T>(task: () => Promise<T>): Promise<T> => {
    const startedAt = now();
    try {
      return await task();
    } finally {
      average += (now() - startedAt - average) * WEIGHT;
    }
  };
  const enqueue = async <T>(task: () => Promise<T>): Promise<T> => {
    const ahead = limit.activeCount + limit.pendingCount;
    const wait = (Math.max(0, ahead - width + 1) * average) / width;
    if (wait > maxWait) throw busy(wait);
    return limit(() => timed(task));
  };
  return Object.assign(enqueue, { load: () => ({ running: limit.activeCount, waiting: limit.pendingCount }) });
};

const busy = (wait: number): AppError =>
  new AppError('SYS_HTTP_UNEXPECTED_ERROR', {
    status: 503,
    reason: `the request would wait ${Math.round(wait)} ms in the queue`,
    retryAfter: Math.max(1, Math.ceil(wait / 1000)),
  });

const STEP_MS = 50;

/**
 * Calls `giveUp` after `timeout` milliseconds without a response. After the event loop was blocked, a plain timer would end before a response is read
 * that has arrived meanwhile. So the time is counted in steps, with all sockets read between two of them.
 * @returns a function that cancels it
 */
export const onResponseTimeout = (timeout: number, giveUp: () => void): (() => void) => {
  let left = Math.ceil(timeout / STEP_MS);
  let timer: NodeJS.Timeout;
  let afterSockets: NodeJS.Immediate | undefined;
  const step = (): void => {
    // Immediates run after the sockets have been read.
    afterSockets = setImmediate(() => {
      left -= 1;
      if (left <= 0) giveUp();
      else timer = setTimeout(step, STEP_MS);
    });
  };
  timer = setTimeout(step, Math.min(timeout, STEP_MS));
  return () => {
    clearTimeout(timer);
    clearImmediate(afterSockets);
  };
};

/** @param start starts a timer that calls `giveUp`, and returns a function that stops it. */
const raced =
  (start: typeof onResponseTimeout) =>
  <Result>(timeout: number, work: Promise<Result>, error: () => Error): Promise<Result> => {
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    const stop = start(timeout, () => reject(error()));
    promise.then(stop, stop);
    work.then(resolve, reject);
    return promise;
  };

/** The result of `work`, or a rejection with `error()` after the time of `onResponseTimeout`. */
export const withResponseTimeout = raced(onResponseTimeout);

/** The same after `timeout` milliseconds, however busy the event loop was. */
export const withTimeout = raced((timeout, giveUp) => {
  const timer = setTimeout(giveUp, timeout);
  return () => clearTimeout(timer);
});
