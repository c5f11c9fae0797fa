import pLimit from 'p-limit';
import { AppError } from '../../domain/errors/app-error.ts';

/** Runs a task when its turn comes. */
export type Lane = {
  <T>(task: () => Promise<T>): Promise<T>;
  readonly load: () => LaneLoad;
};

/** How many tasks there are at the moment. */
export type LaneLoad = { readonly running: number; readonly waiting: number };

const RETRY_AFTER_SECONDS = '1';

/**
 * Runs at most `width` tasks at once, in the order they came, and lets at most `waiting` more wait for their turn. Whoever
 * comes when all places are taken is turned away at once: AppError SYS_HTTP_UNEXPECTED_ERROR with status 503.
 */
export const lane = ({ width, waiting }: { readonly width: number; readonly waiting: number }): Lane => {
  const limit = pLimit(width);
  const inTurn = async <T>(task: () => Promise<T>): Promise<T> => {
    if (limit.activeCount >= width && limit.pendingCount >= waiting) {
      throw new AppError('SYS_HTTP_UNEXPECTED_ERROR', {
        status: 503,
        reason: `${waiting} passwords wait to be hashed already`,
        headers: { 'Retry-After': RETRY_AFTER_SECONDS },
      });
    }
    return limit(task);
  };
  return Object.assign(inTurn, { load: () => ({ running: limit.activeCount, waiting: limit.pendingCount }) });
};
