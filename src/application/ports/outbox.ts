import type { Message } from '../../domain/message.ts';

/** How many requests may wait to be claimed. Anybody can make one without an account, so more are dropped. */
export const REQUESTS_WAITING = 1_000;
/** How many of them one network (`origin.address`) may have, so that it cannot crowd out the others. */
export const REQUESTS_PER_NETWORK = 100;
/** How many waiting messages are counted: as many as are read for it. */
export const COUNTED_AT_MOST = 2_000;

type Claim = {
  readonly now: number;
  /** When the sender last polled. A message that waits for a poll (`waitsForPoll`) is claimed only if it was due then. Default: `now`. */
  readonly lastPolledAt?: number | undefined;
  readonly until: number;
  readonly limit: number;
};

type Admission = {
  /** A hash of what it is counted by: a mailbox, or an address of it. */
  readonly mailbox: string;
  readonly now: number;
  readonly burst: number;
  readonly interval: number;
};

/**
 * The messages that are still to be sent: a transactional outbox. A message is added in the transaction of the change that it reports,
 * and removed when it was sent.
 * - claims messages whose time has come, the oldest first, at most as many as it is asked to
 * - claims messages that may wait only if they were due at the last poll
 * - claims a message as it was added
 * - claims each message for one of several instances, until the lease ends
 * - counts the attempts of a message
 * - claims a message again at the time to which it was postponed
 * - keeps one request of each kind for an address until it is claimed
 * - keeps one of many requests for an address that come at the same time
 * - keeps a bounded number of requests, of one network and of all
 * - says when half of the requests wait that may
 * - names the user of a message, once it is known
 * - removes messages
 * - lists the messages about a user
 * - admits as many mails to a mailbox at once as the burst, and then one in each interval
 * - purges the counts of mailboxes that may get the whole burst again, and only those
 * - says how many messages wait, and since when
 *
 * @example
 * const due = await outbox.claim({ now, until: now + LEASE, limit: 10 });
 * for (const { id, to } of due) {
 *   await mailer.send({ id, to, subject, text, html });
 *   await outbox.remove([id]);
 * }
 */
export interface Outbox {
  /**
   * Drops a request (`isRequest`) that cannot be kept, or whose `requestKey` another one has: a code by mail has a key for each browser.
   * @returns whether the sender should claim soon: a request was added, and half of `REQUESTS_WAITING` were waiting already.
   */
  add(messages: readonly Message[]): Promise<boolean>;
  /**
   * Claims messages that are due, and counts an attempt of each. A message is due from its creation, or from the end of its last lease or
   * of `postpone`; those due first come first. No other caller gets them before `until`. Times are epoch milliseconds.
   */
  claim(claim: Claim): Promise<Message[]>;
  /** Replaces the kind and the user of a waiting message. @returns false when the message is gone. */
  identify(id: string, identity: Pick<Message, 'kind' | 'userId'>): Promise<boolean>;
  /** Lets it be claimed again at a time. */
  postpone(id: string, until: number): Promise<void>;
  remove(ids: readonly string[]): Promise<void>;
  listByUser(userId: string): Promise<Message[]>;
  /** Counts a mail to a mailbox, if it may get one. @returns whether it may. */
  admit(admission: Admission): Promise<boolean>;
  /** Deletes counts of mailboxes. @returns how many. */
  purge(now: number, limit: number): Promise<number>;
  /** How many wait, up to `COUNTED_AT_MOST`, and since when the oldest of them does; `null` when none waits. */
  waiting(): Promise<{ readonly count: number; readonly since: number | null }>;
}
