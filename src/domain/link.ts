export const LINK_PURPOSES = [
  'password-reset',
  /** The same, which an operator has given to somebody: it proves no address. */
  'handed-over',
  /** A code that confirms what otherwise takes the password. */
  'confirmation-code',
  'email-verification',
  /** "I did not register". */
  'not-me',
  'email-change',
  'email-change-undo',
  /** "It was not me": undoes what was done to passkeys, authenticator apps, recovery codes and identities. */
  'factors-undo',
] as const;
export type LinkPurpose = (typeof LINK_PURPOSES)[number];

export const PAGE_PURPOSES = LINK_PURPOSES.filter((each) => each !== 'handed-over' && each !== 'confirmation-code');

/** The links with which the owner of a mailbox takes an account back from somebody who knows the password. */
export const UNDO_PURPOSES = ['email-change-undo', 'factors-undo'] as const satisfies readonly LinkPurpose[];
export type UndoPurpose = (typeof UNDO_PURPOSES)[number];

/**
 * A link that was sent by email. A user has one of each purpose at most, a newer one replaces the older; but of `factors-undo` one for each
 * change, since none may undo what came before its own.
 */
export type Link = {
  readonly userId: string;
  readonly purpose: LinkPurpose;
  /** SHA-256 of the token in the link. The token itself is never stored. */
  readonly tokenHash: string;
  /** The address that the link was sent to, or that an undo restores. Canonical. */
  readonly email: string;
  /** Tells the links of a user that undo changes apart, a later one by a greater number; 0 for other purposes. */
  readonly since: number;
  /**
   * The ids of what an undo leaves: what there was before. `null` for other purposes, and if nobody had proven the address: then nothing is left. Links
   * of versions before 1.1.0 have `null`, too, and leave what is older than `since`.
   */
  readonly keeps: readonly string[] | null;
  readonly createdAt: number;
  readonly expiresAt: number;
};

export const RESET_LIFETIME = 30 * 60_000;

/** How long links are valid that verify or change an email address: a day. */
export const EMAIL_LINK_LIFETIME = 86_400_000;

/** Whether an undo leaves what has this id. @param createdAt epoch milliseconds */
export const survivesUndo = (
  { keeps, since }: Pick<Link, 'keeps' | 'since'>,
  { id, createdAt = Number.POSITIVE_INFINITY }: { readonly id: string; readonly createdAt?: number },
): boolean => keeps?.includes(id) ?? createdAt < since;

/**
 * How long a change can be undone by mail, and how long an email address that was given up is reserved for its former user. Milliseconds: seven days.
 */
export const UNDO_LIFETIME = 7 * 86_400_000;

/** How many live links of one address undo changes of factors. The first ones stay: each undoes all that came after it. */
export const FACTOR_UNDOS_KEPT = 10;

/**
 * Milliseconds in which no request of a stranger replaces a link that can be used: the owner may be using it. How many links are sent is
 * limited besides (`mailLimits`).
 */
export const LINK_SPACING = 5 * 60_000;
