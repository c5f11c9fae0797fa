import type { ThrottledClient } from '../../domain/login-throttle.ts';

export type Attempt = {
  /** Attempts with the same key are counted together, for instance those on an account from all networks. */
  readonly key: string;
  readonly client: ThrottledClient;
};

/**
 * Counts attempts to present a password or a code, by the rule of domain/login-throttle.ts. An attempt counts as a failure as soon as it begins, so
 * that concurrent attempts are admitted no more often than consecutive ones.
 *
 * The adapter of the service never rejects. Without Redis, or while Redis is unavailable, each process counts for itself, in its memory.
 * - admits 50 failures at once, and makes the next attempt wait
 * - admits exactly 50 of many concurrent attempts
 * - admits one of many concurrent attempts after the wait
 * - forgets the failures of a client that succeeds
 * - keeps the failures of other clients when one succeeds
 * - counts exactly while attempts begin, succeed and are withdrawn at the same time
 * - counts each key separately
 * - forgets the failures of a client an hour after its last attempt
 * - does not count an attempt that is withdrawn
 * - admits exactly 50 of many concurrent attempts at two instances
 * - does not reject when its store fails, or with DB_QUERY_FAILED alone
 */
export interface LoginAttempts {
  /** Counts the attempt, unless it has to wait. @returns the wait in milliseconds; 0 when the attempt is admitted. */
  begin(attempt: Attempt): Promise<number>;
  succeed(attempt: Attempt): Promise<void>;
  /** Takes back an admitted attempt in which nothing was compared. */
  withdraw(attempt: Attempt): Promise<void>;
  /** Forgets all failures of a key. An adapter of an application may leave this method out. */
  forget?(key: string): Promise<void>;
}
