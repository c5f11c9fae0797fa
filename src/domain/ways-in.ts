/**
 * Whose account it is: what each act ends. One rule stands behind all cells: the latest proof of the mailbox decides whose account it is; what
 * somebody else has added does not outlive it; and what an owner has removed does not come back without its owner. ADR 0010.
 */

/** What lets somebody into an account, or may in time. Links have the names of their purposes. */
export const WAYS_IN = [
  'password',
  /** A session with its refresh tokens. */
  'session',
  /** It keeps copies of the refresh token out; another one comes with another session. */
  'device-key',
  'remembered-device',
  'passkey',
  'app',
  'recovery-code',
  'identity',
  /** One that its owner has removed: a log-in with it is refused. */
  'removed-identity',
  'password-reset',
  'handed-over',
  'email-verification',
  'not-me',
  'email-change',
  /** Also reserves the former address. */
  'email-change-undo',
  'factors-undo',
  /** A code by mail that logs in. */
  'mail-code',
  /** A code by mail that confirms a change in a session. */
  'confirmation-code',
  'pending-login',
  /** A code with which an app gets a session beside that of the browser. */
  'app-code',
  'begun-sign-in',
  'begun-link',
  /** A sign-in that a browser keeps: its next log-in links it, since the address has an account with another way in. */
  'kept-identity',
  /** To the address of an account that nobody has proven. */
  'invitation',
  'adoption',
  /** A password that the former system verifies. */
  'former-password',
] as const;
export type WayIn = (typeof WAYS_IN)[number];

export const ACTS = [
  /** In a session, by somebody who knows the password. */
  'password-changed',
  /** By a link, mailed or handed over. */
  'password-reset',
  /** For the first time, and not in a session of the account. */
  'address-proven',
  /** By its user, or by an operator who does not know that the new one is theirs. */
  'email-change-requested',
  'email-changed',
  /** By the former address. */
  'email-change-undone',
  /** "It was not me": a link in a mail about a device or a way in. */
  'factors-undone',
  /** One way, by its owner or an operator. */
  'way-removed',
  'all-ended',
  'disabled',
  /** To its owner, by an operator: somebody else had taken it. */
  'returned',
  /** By an operator, for a user who has lost a device. */
  'factors-removed',
  'account-deleted',
] as const;
export type Act = (typeof ACTS)[number];

/**
 * - `stays`: as before
 * - `named`: stays, and the mail about the act names it
 * - `ends`
 * - `mine`: ends, unless it belongs to who acts: the session of the request, a password that was shown
 * - `since`: ends, unless it is among those that the act leaves: `Link.keeps`; what was imported; links to a former address, or that undo more
 * - `block`: the same, and is refused until its owner adds it in a session
 * - `waits`: is refused while the account is disabled
 */
export type Fate = 'stays' | 'named' | 'ends' | 'mine' | 'since' | 'block' | 'waits';

/** A fate for each act. */
type Row<Acts extends readonly unknown[] = typeof ACTS> = { readonly [At in keyof Acts]: Fate };

// biome-ignore format: a table
const TABLE: Readonly<Record<WayIn, Row>> = {
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
  'kept-identity':      ['ends',  'ends',  'ends', 'stays', 'ends',  'ends',  'ends',  'block', 'stays', 'waits', 'ends',  'stays', 'ends'],
  'invitation':         ['stays', 'ends',  'ends',  'stays', 'ends',  'ends',  'ends',  'stays', 'stays', 'waits', 'ends',  'stays', 'ends'],
  'adoption':           ['ends',  'ends',  'mine',  'stays', 'stays', 'ends',  'ends',  'stays', 'stays', 'waits', 'ends',  'stays', 'ends'],
  'former-password':    ['ends',  'ends',  'mine',  'stays', 'stays', 'ends',  'ends',  'stays', 'stays', 'waits', 'ends',  'stays', 'ends'],
};

export const fateOf = (way: WayIn, act: Act): Fate => TABLE[way][ACTS.indexOf(act)] ?? 'ends';
