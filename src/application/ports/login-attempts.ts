import type { LoginClient } from '../../domain/login-throttle.ts';

export type Attempt = {
  /** Attempts with one key are counted together: those on one account from networks, or those of one user's devices. */
  readonly key: string;
  readonly client: LoginClient;
};

/**
 * Counts log-in attempts by the rule of domain/login-throttle.ts. An attempt counts as a failure as soon as it begins, so that
 * concurrent attempts are admitted no more often than consecutive ones.
 *
 * In the service, none rejects when the store is unavailable: it then counts in the process.
 * - admits 50 failures at once, and makes the next attempt wait
 * - doubles the wait with each further failure, from a second up to a minute
 * - does not count attempts that have to wait
 * - admits exactly 50 of many concurrent attempts
 * - admits one of many concurrent attempts after the wait
 * - forgets the failures of a client that succeeds
 * - keeps the failures of other clients when one succeeds
 * - counts exactly while attempts begin, succeed and are withdrawn at the same time
 * - counts each key separately
 * - admits a network without failures while another network waits
 * - makes networks without failures wait for each other
 * - treats a network as failing from its third failure on
 * - treats all networks of a group as one failing network when enough of them have failed
 * - does not treat a network as failing because another one of its group is
 * - gives each failing network its own buckets
 * - admits three attempts of a device, however often the others fail
 * - gives each failing device its own buckets
 * - limits the failures of any number of devices together
 * - forgets the failures of a client an hour after its last attempt
 * - does not count an attempt that is withdrawn
 * - admits exactly 50 of many concurrent attempts at two instances
 * - does not reject when its store fails, or with DB_QUERY_FAILED alone
 */
export interface LoginAttempts {
  /** Counts the attempt, unless it has to wait. @returns the wait in milliseconds; 0 when the attempt is admitted. */
  begin(attempt: Attempt): Promise<number>;
  succeed(attempt: Attempt): Promise<void>;
  /** The attempt was admitted, but no password was compared. */
  withdraw(attempt: Attempt): Promise<void>;
}
