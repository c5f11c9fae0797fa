import type { Party } from '../../domain/login-throttle.ts';

/** Who tries to log in, as far as guessing goes. */
export type Attempt = {
  /** Tries of one key are counted together: those of strangers at an account, or those of all devices of a user. */
  readonly key: string;
  readonly party: Party;
};

/**
 * Counts the tries at each account, by the rule of domain/login-throttle.ts. A try counts as a failure from its beginning on, so
 * that of many at once no more are let through than one after the other. None of the methods fails for want of a store.
 * - lets 50 failures through at once, and has the next one wait
 * - has each failure after that wait twice as long as the last, from a second up to a minute
 * - takes no notice of tries that were told to wait
 * - lets exactly 50 of many concurrent tries through
 * - lets one of many concurrent tries through when the wait is over
 * - starts anew after a success
 * - forgets no failures of other parties for a success
 * - counts each key for itself
 * - lets a network that has not failed here try while another one waits
 * - has networks that have not failed here wait for each other
 * - takes a network for one that keeps failing from its third failure on
 * - takes all networks of a group for one that keeps failing when enough of them have failed
 * - does not take a network for one that keeps failing because another one of its group does
 * - gives each network that keeps failing turns of its own
 * - lets a device try three times, however much the other ones fail
 * - gives each device that keeps failing turns of its own
 * - bounds what any number of devices fail together
 * - forgets what a party failed an hour after its last try
 * - takes back a try that came to no end
 */
export interface LoginAttempts {
  /** Counts a try, unless it has to wait. @returns how long, in milliseconds; 0 is: go ahead. */
  begin(attempt: Attempt): Promise<number>;
  /** The try found the right password. */
  succeed(attempt: Attempt): Promise<void>;
  /** The try was let through, but no password was compared. */
  withdraw(attempt: Attempt): Promise<void>;
}
