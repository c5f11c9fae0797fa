import { AppError, type AppErrorOptions } from '../../../domain/errors/app-error.ts';
import { withFramesOf } from '../../redaction/redact-error.ts';

/** DB_QUERY_FAILED of a statement that was certainly not executed: there is no rotation to revert. */
export class NotExecutedError extends AppError {
  constructor(options: AppErrorOptions) {
    super('DB_QUERY_FAILED', options);
  }
}

/** Translates the failure of a step before the rotation is sent, or after it changed nothing. */
export const notExecuted = (error: unknown): never => {
  const reason = error instanceof AppError ? error.reason : undefined;
  throw withFramesOf(error, new NotExecutedError(reason === undefined ? {} : { reason }));
};

/** The time limits of a rotation and of its result, in milliseconds after the call. ADR 0022. */
export type RotationBudgets = {
  /** By then the rotation has happened, or never will. */
  readonly rotation: number;
  /** By then the caller has a result or an error. */
  readonly answer: number;
};

/** Milliseconds: enough for a slow store. */
export const ROTATION_BUDGET = 5_000;
/** Milliseconds for the result to arrive. */
const MARGIN = 500;

/** Both are well below the time limit of a request, which is given in milliseconds. */
export const rotationBudgets = (requestTimeout: number): RotationBudgets => {
  const rotation = Math.min(ROTATION_BUDGET, requestTimeout / 2);
  return { rotation, answer: rotation + MARGIN };
};

/** Milliseconds after which the server's clock is read again, since the two clocks drift apart. */
const MAX_AGE = 10_000;

/** The clock of a server, extrapolated between readings. Steps of this machine's clock do not affect it. */
export type ServerClock = {
  /**
   * The time on the server's clock `budget` milliseconds after this call. It may be early by one round trip, and is never late.
   * @returns epoch milliseconds, an integer.
   */
  deadlineIn(budget: number): Promise<number>;
  /** Makes the next call read the clock, in case another server responds now or the clock was set. */
  forget(): void;
};

/** @param read the server's clock, in epoch milliseconds. */
export const serverClock = (read: () => Promise<number>): ServerClock => {
  let reading: { readonly offset: number; readonly at: number } | null = null;
  const readNow = async () => {
    const time = await read();
    const at = performance.now();
    return { offset: time - at, at };
  };
  return {
    async deadlineIn(budget) {
      const called = performance.now();
      if (reading === null || called - reading.at > MAX_AGE) reading = await readNow();
      return Math.floor(reading.offset + called + budget);
    },
    forget() {
      reading = null;
    },
  };
};
