import pLimit from 'p-limit';
import { AppError } from '../../domain/errors/app-error.ts';

/** Runs a task when its turn comes. */
export type BoundedQueue = {
  <T>(task: () => Promise<T>): Promise<T>;
  readonly load: () => QueueLoad;
};

/** How many tasks there are at the moment. */
export type QueueLoad = { readonly running: number; readonly waiting: number };

type BoundedQueueOptions = {
  /** How many tasks run at once. */
  readonly width: number;
  /** Milliseconds a task may have to wait for its turn, as far as can be told from how long the last ones took. */
  readonly maxWait: number;
  /** Milliseconds that the first task is expected to take. */
  readonly firstGuess?: number;
  readonly now?: () => number;
};

/** How much each task changes the expectation. */
const WEIGHT = 1 / 8;

/**
 * Runs at most `width` tasks at once, in the order they came. Whoever would have to wait longer than `maxWait` is turned away
 * at once: AppError SYS_HTTP_UNEXPECTED_ERROR with status 503 and `retryAfter`.
 */
export const boundedQueue = ({
  width,
  maxWait,
  firstGuess = 50,
  now = () => performance.now(),
}: BoundedQueueOptions): BoundedQueue => {
  const limit = pLimit(width);
  let usual = firstGuess;
  const timed = async <T>(task: () => Promise<T>): Promise<T> => {
    const startedAt = now();
    try {
      return await task();
    } finally {
      usual += (now() - startedAt - usual) * WEIGHT;
    }
  };
  const inTurn = async <T>(task: () => Promise<T>): Promise<T> => {
    const ahead = limit.activeCount + limit.pendingCount;
    const wait = (Math.max(0, ahead - width + 1) * usual) / width;
    if (wait > maxWait) throw busy(wait);
    return limit(() => timed(task));
  };
  return Object.assign(inTurn, { load: () => ({ running: limit.activeCount, waiting: limit.pendingCount }) });
};

const busy = (wait: number): AppError =>
  new AppError('SYS_HTTP_UNEXPECTED_ERROR', {
    status: 503,
    reason: `a password would wait ${Math.round(wait)} ms to be hashed`,
    retryAfter: Math.max(1, Math.ceil(wait / 1000)),
  });
