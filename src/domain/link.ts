export const LINK_PURPOSES = [
  'password-reset',
  /** A password reset that an operator hands over. It proves no address. */
  'handed-over',
  /** A code that confirms a change in place of the password. */
  'confirmation-code',
  'email-verification',
  /** "I did not register". */
  'not-me',
  'email-change',
  'email-change-undo',
  /** "It was not me", in mails about ways in and new devices: ends the password, the sessions, and the ways in that were added since. */
  'factors-undo',
] as const;
export type LinkPurpose = (typeof LINK_PURPOSES)[number];

/** The purposes of links that led to a path of their own in mails of version 1.0. */
export const PAGE_PURPOSES = LINK_PURPOSES.filter((each) => each !== 'handed-over' && each !== 'confirmation-code');

/** The links that undo changes of an account. */
export const UNDO_PURPOSES = ['email-change-undo', 'factors-undo'] as const satisfies readonly LinkPurpose[];
export type UndoPurpose = (typeof UNDO_PURPOSES)[number];

/** A link, or a code that confirms a change. A new one replaces that of the same user and purpose, except for `factors-undo`, of which a user has several. */
export type Link = {
  readonly userId: string;
  readonly purpose: LinkPurpose;
  /** SHA-256 of the token in the link; for a code, of a keyed hash of the code. The token or the code itself is never stored. */
  readonly tokenHash: string;
  /** The canonical address to which the link was sent, that an undo restores, or that the account had when an operator made the link. */
  readonly email: string;
  /** 0, except for undos. `factors-undo`: the time of the change, raised so that it ascends. `email-change-undo`: that of the address's first undo, or 0. */
  readonly since: number;
  /**
   * The ids of the ways in that an undo keeps, since they are older than the change. `null` for other purposes; for an address that nobody had proven, whose
   * undo keeps none; and for links of versions before 1.1.0, which keep the passkeys, apps and identities that are older than `since`.
   */
  readonly keeps: readonly string[] | null;
  readonly createdAt: number;
  readonly expiresAt: number;
};

export const RESET_LIFETIME = 30 * 60_000;

/** Milliseconds in which links that verify, disown or change an email address are valid: a day. */
export const EMAIL_LINK_LIFETIME = 86_400_000;

/** Whether an undo keeps the way in with this id. @param createdAt epoch milliseconds */
export const survivesUndo = (
  { keeps, since }: Pick<Link, 'keeps' | 'since'>,
  { id, createdAt = Number.POSITIVE_INFINITY }: { readonly id: string; readonly createdAt?: number },
): boolean => keeps?.includes(id) ?? createdAt < since;

/** Milliseconds in which a change can be undone by mail, and in which a former address is reserved for its user: seven days. */
export const UNDO_LIFETIME = 7 * 86_400_000;

/** How many live links may undo changes of factors, for one user and address. The oldest ones are kept, since each link undoes all changes after it. */
export const FACTOR_UNDOS_KEPT = 10;

/** Milliseconds after the last request for a link in which a further request replaces no live link, since the owner may be using it. */
export const LINK_SPACING = 5 * 60_000;
