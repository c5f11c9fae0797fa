import type { ThrottledClient } from '../../domain/login-throttle.ts';

export type Attempt = {
  /** Attempts with one key are counted together: those on an account from networks, or those from the devices of a user. */
  readonly key: string;
  readonly client: ThrottledClient;
};

/**
 * Counts log-in attempts by the rule of domain/login-throttle.ts. An attempt counts as a failure as soon as it begins, so that
 * concurrent attempts are admitted no more often than consecutive ones.
 *
 * In the service, no call rejects when the store is unavailable: the process then counts in its memory.
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
  /** Called when an admitted attempt has compared no password. */
  withdraw(attempt: Attempt): Promise<void>;
  /** Forgets all failures of a key. An adapter of an application may leave this method out. */
  forget?(key: string): Promise<void>;
}
