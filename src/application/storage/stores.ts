import type { AccountEvent } from '../../domain/event.ts';
import type { SessionRepository } from '../ports/session-repository.ts';
import type { UserRepository } from '../ports/user-repository.ts';
import type { Records } from './records.ts';

/** Called when something was added, after it was committed. */
export type Listeners = {
  /** With the events that were stored, or taken: once, also if their transaction ran twice. */
  readonly onEvents?: (events: readonly AccountEvent[]) => void;
  /** With the events of operators that were taken. `onEvents` gets none of them then, also not when they are stored here. */
  readonly onOperated?: (events: readonly AccountEvent[]) => void;
  /** When the list of ended sessions became longer. */
  readonly onEnded?: () => void;
  /**
   * When there are messages to send at once, not those alone that wait for a poll.
   * @param isForAll whether to send those that wait for a poll as well, because there are so many.
   */
  readonly onMessages?: (isForAll: boolean) => void;
};

/**
 * What is changed together. What belongs to a user goes with the user. Of concurrent calls, also of several instances, it
 * - gives to one of many what is used up, taken or removed
 * - hands out each message, each event of a webhook and each one of an operator to one of many
 * - counts every log-in and every mail, keeps one request of an address, and purges each row once
 * - hides what an end of all sessions covers, with the sessions that replaced one, and removes none
 * - carries out each end of all sessions once, also for who waited meanwhile
 */
export type Stores = {
  readonly users: UserRepository;
  readonly sessions: SessionRepository;
  /** Everything else: the functions beside this file read and change it. */
  readonly records: Records;
  /** Tells the listeners of the service what was added, once it is committed; a storage without listeners tells nobody. */
  readonly tell: (listen: (listeners: Listeners) => void) => void;
};

export type Storage = Stores & { readonly transactions: Transactions };

/**
 * Changes several stores together, in a unit of `Records`, whose promises hold for all of them.
 * - keeps all changes when the work succeeds, and returns its result
 * - keeps none when the work rejects, and rejects with the same error
 * - shows the changes to nobody before the work has ended
 * - shows its own changes to the work
 * - runs the work again when it conflicts with another
 * - keeps all changes or rejects, when the work goes on after a store has refused a change
 * - makes other writers of a user whom it has locked or changed wait, and shows them its changes
 *
 * A store may run its transactions one after the other, which keeps the promises about concurrent transactions. Reads outside of a transaction must not see
 * its changes before its end, and writes outside of it must not be lost.
 *
 * @example
 * await transactions.run(async ({ users, records }) => {
 *   await users.add(user);
 *   await records.insert('passkeys', passkey);
 * });
 */
export interface Transactions {
  /**
   * @param work uses the given stores alone, and changes nothing else, since it may run twice. It does not rotate sessions.
   * @throws what the work throws; AppError DB_QUERY_FAILED when it is not known whether the changes were kept, SYS_UNEXPECTED_ERROR
   *   within another transaction.
   */
  run<Result>(work: (stores: Stores) => Promise<Result>): Promise<Result>;
}
