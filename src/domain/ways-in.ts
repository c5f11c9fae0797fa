/**
 * Which acts end which ways into an account (ADR 0010). The rule behind the table: the account belongs to the person who has proven the mailbox last. Ways
 * in that somebody else may have added end with that proof, or a mail names them. One that the owner has removed comes back only if the owner adds it.
 */

/** What lets somebody into an account, now or later, and what restricts that. Links have the names of their purposes. */
export const WAYS_IN = [
  'password',
  'session',
  /** The key of a session, which ends with the session. */
  'device-key',
  'remembered-device',
  'passkey',
  'app',
  'recovery-code',
  'identity',
  /** Marks an identity that was removed, so that no log-in links it again to an account with a proven address. */
  'removed-identity',
  'password-reset',
  'handed-over',
  'email-verification',
  'not-me',
  'email-change',
  /** A link that restores the former address. It also reserves that address for the user. */
  'email-change-undo',
  'factors-undo',
  /** A code by mail that logs in. */
  'mail-code',
  /** A code by mail that confirms a change in a session. */
  'confirmation-code',
  'pending-login',
  /** A code by which an app gets a session of its own. */
  'app-code',
  'begun-sign-in',
  'begun-link',
  /** A sign-in at a provider whose address has an account with another way in. The browser keeps it, and the next log-in to that account links it. */
  'kept-identity',
  /** An invitation to the address of an account that nobody has proven. */
  'invitation',
  /** An assertion of the former system, which opens a session here. */
  'adoption',
  /** A password that the former system verifies. */
  'former-password',
] as const;
export type WayIn = (typeof WAYS_IN)[number];

export const ACCOUNT_ACTS = [
  /** In a session, by somebody who knows the password. */
  'password-changed',
  /** By a link that was mailed or handed over. */
  'password-reset',
  /** The first proof of the address, outside of a session of the account, or by an operator. */
  'address-proven',
  /** By the user, or by an operator who does not know that the new address is the user's. */
  'email-change-requested',
  'email-changed',
  /** By a link in a mail to the former address. */
  'email-change-undone',
  /** "It was not me": by a link in a mail to the present address. */
  'factors-undone',
  /** The owner or an operator has removed this way in. */
  'way-removed',
  'all-ended',
  'disabled',
  /** An operator has given the account back to its owner, after somebody else had taken it. */
  'returned',
  /** By an operator, for a user who has lost a device. */
  'factors-removed',
  'account-deleted',
] as const;
export type AccountAct = (typeof ACCOUNT_ACTS)[number];

/**
 * - `stays`: it stays as before
 * - `named`: it stays, and mails about the act tell of it (`REMAINING_WAYS`)
 * - `ends`: it ends
 * - `mine`: it ends, unless the request uses it, such as its session or the identity of a log-in. The password also stays if it was entered, or if the
 *   mail with the link has named the account
 * - `since`: it ends, unless it is older than what is undone (`Link.keeps`), was imported, or is a link to a former address or about an earlier change
 * - `block`: as `since`, and it is refused until the owner adds it in a session
 * - `waits`: it is refused while the account is disabled
 */
export type Fate = 'stays' | 'named' | 'ends' | 'mine' | 'since' | 'block' | 'waits';

type FatesByAct<Acts extends readonly unknown[] = typeof ACCOUNT_ACTS> = { readonly [At in keyof Acts]: Fate };

// biome-ignore format: a table
const FATES: Readonly<Record<WayIn, FatesByAct>> = {
  //                     changed  reset    proven   asked    new      undone   not me   removed  all      disabled returned factors  deleted
  'password':           ['ends',  'ends',  'mine',  'stays', 'stays', 'ends',  'ends',  'stays', 'stays', 'waits', 'ends',  'stays', 'ends'],
  'session':            ['mine',  'ends',  'ends',  'stays', 'stays', 'ends',  'ends',  'ends',  'mine',  'ends',  'ends',  'stays', 'ends'],
  'device-key':         ['mine',  'ends',  'ends',  'stays', 'stays', 'ends',  'ends',  'ends',  'mine',  'ends',  'ends',  'stays', 'ends'],
  'remembered-device':  ['ends',  'ends',  'ends',  'stays', 'stays', 'ends',  'ends',  'ends',  'ends',  'ends',  'ends',  'ends',  'ends'],
  'passkey':            ['stays', 'named', 'ends',  'stays', 'named', 'since', 'since', 'ends',  'stays', 'waits', 'ends',  'ends',  'ends'],
  'app':                ['stays', 'named', 'since', 'stays', 'named', 'since', 'since', 'ends',  'stays', 'waits', 'ends',  'ends',  'ends'],
  'recovery-code':      ['stays', 'stays', 'since', 'stays', 'stays', 'since', 'since', 'ends',  'stays', 'waits', 'ends',  'ends',  'ends'],
  'identity':           ['stays', 'named', 'mine',  'stays', 'named', 'block', 'block', 'block', 'stays', 'waits', 'block', 'stays', 'ends'],
  'removed-identity':   ['stays', 'stays', 'stays', 'stays', 'stays', 'stays', 'stays', 'stays', 'stays', 'stays', 'stays', 'stays', 'ends'],
  'password-reset':     ['stays', 'ends',  'stays', 'stays', 'ends',  'ends',  'ends',  'stays', 'stays', 'waits', 'ends',  'stays', 'ends'],
  'handed-over':        ['ends',  'ends',  'ends',  'stays', 'ends',  'ends',  'ends',  'stays', 'stays', 'waits', 'ends',  'stays', 'ends'],
  'email-verification': ['stays', 'ends',  'ends',  'stays', 'ends',  'ends',  'ends',  'stays', 'stays', 'stays', 'ends',  'stays', 'ends'],
  'not-me':             ['stays', 'ends',  'ends',  'stays', 'ends',  'ends',  'ends',  'stays', 'stays', 'waits', 'ends',  'stays', 'ends'],
  'email-change':       ['ends',  'ends',  'ends',  'ends',  'ends',  'ends',  'ends',  'stays', 'stays', 'waits', 'ends',  'stays', 'ends'],
  'email-change-undo':  ['stays', 'stays', 'stays', 'stays', 'stays', 'ends',  'stays', 'stays', 'stays', 'stays', 'ends',  'stays', 'ends'],
  'factors-undo':       ['stays', 'stays', 'since', 'stays', 'stays', 'since', 'since', 'stays', 'stays', 'stays', 'ends',  'stays', 'ends'],
  'mail-code':          ['ends',  'ends',  'mine',  'stays', 'ends',  'ends',  'ends',  'stays', 'stays', 'waits', 'ends',  'stays', 'ends'],
  'confirmation-code':  ['ends',  'ends',  'ends',  'stays', 'ends',  'ends',  'ends',  'stays', 'stays', 'waits', 'ends',  'stays', 'ends'],
  'pending-login':      ['ends',  'ends',  'ends',  'stays', 'ends',  'ends',  'ends',  'stays', 'stays', 'waits', 'ends',  'ends',  'ends'],
  'app-code':           ['ends',  'ends',  'ends',  'stays', 'stays', 'ends',  'ends',  'ends',  'ends',  'ends',  'ends',  'stays', 'ends'],
  'begun-sign-in':      ['stays', 'stays', 'mine',  'stays', 'stays', 'block', 'block', 'block', 'stays', 'waits', 'block', 'stays', 'ends'],
  'begun-link':         ['ends',  'ends',  'ends',  'stays', 'ends',  'ends',  'ends',  'stays', 'ends',  'ends',  'ends',  'stays', 'ends'],
  'kept-identity':      ['ends',  'ends',  'ends',  'stays', 'ends',  'ends',  'ends',  'block', 'stays', 'waits', 'ends',  'stays', 'ends'],
  'invitation':         ['stays', 'ends',  'ends',  'stays', 'ends',  'ends',  'ends',  'stays', 'stays', 'waits', 'ends',  'stays', 'ends'],
  'adoption':           ['ends',  'ends',  'mine',  'stays', 'stays', 'ends',  'ends',  'stays', 'stays', 'waits', 'ends',  'stays', 'ends'],
  'former-password':    ['ends',  'ends',  'mine',  'stays', 'stays', 'ends',  'ends',  'stays', 'stays', 'waits', 'ends',  'stays', 'ends'],
};

export const fateOf = (way: WayIn, act: AccountAct): Fate => FATES[way][ACCOUNT_ACTS.indexOf(act)] ?? 'ends';
