/** Who tries to log in, as far as guessing goes. */
export type Attempt = {
  /** Tries of one key are counted together: an account, or a device that has logged in to one. */
  readonly key: string;
  /** The client's network. */
  readonly network: string;
};

/**
 * Counts the tries at each account, by the rule of domain/login-throttle.ts. A try counts as a failure from its beginning on, so
 * that of many at once no more are let through than one after the other. None of the methods fails for want of a store.
 * - lets 100 failures in a row through at once, and has the next one wait
 * - has each failure after that wait twice as long as the last, from a second up to a minute
 * - takes no notice of tries that were told to wait
 * - lets exactly 100 of many concurrent tries through
 * - lets one of many concurrent tries through when the wait is over
 * - starts anew after a success
 * - counts each key for itself
 * - lets a network that has not failed here try while another one waits
 * - has networks that have not failed here wait for each other
 * - takes a network for one that keeps failing from its third failure on
 * - forgets what happened over an hour ago
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
