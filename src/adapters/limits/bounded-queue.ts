import pLimit from 'p-limit';
import { AppError } from '../../domain/errors/app-error.ts';
import { monotonicTime } from '../clock/system.ts';

export type QueueLoad = { readonly running: number; readonly waiting: number };

type BoundedQueueOptions = {
  readonly width: number;
  /** Milliseconds that a task may wait. The queue estimates the wait by the durations of recent tasks. */
  readonly maxWait: number;
  /** Milliseconds that a task is expected to take at first. Each task that ends changes the expectation. */
  readonly expectedDuration?: number;
  readonly now?: () => number;
};

const LAST_TASK_WEIGHT = 1 / 8;

/**
 * Runs at most `width` tasks at once, in the order of their arrival.
 * @throws AppError SYS_HTTP_UNEXPECTED_ERROR with status 503 and `retryAfter`, at once, for a task that would have to wait longer than `maxWait`
 */
export const boundedQueue = ({ width, maxWait, expectedDuration = 50, now = monotonicTime }: BoundedQueueOptions) => {
  const limit = pLimit(width);
  let average = expectedDuration;
  const runTimed = async <T>(task: () => Promise<T>): Promise<T> => {
    const startedAt = now();
    try {
      return await task();
    } finally {
      average += (now() - startedAt - average) * LAST_TASK_WEIGHT;
    }
  };
  const enqueue = async <T>(task: () => Promise<T>): Promise<T> => {
    const ahead = limit.activeCount + limit.pendingCount;
    const wait = (Math.max(0, ahead - width + 1) * average) / width;
    if (wait > maxWait) throw busyError(wait);
    return limit(() => runTimed(task));
  };
  return Object.assign(enqueue, { load: () => ({ running: limit.activeCount, waiting: limit.pendingCount }) });
};

const busyError = (wait: number): AppError =>
  new AppError('SYS_HTTP_UNEXPECTED_ERROR', {
    status: 503,
    reason: `the request would wait ${Math.round(wait)} ms in the queue`,
    retryAfter: Math.max(1, Math.ceil(wait / 1000)),
  });
