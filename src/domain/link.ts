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
  /** "It was not me": undoes what was done to passkeys, authenticator apps, recovery codes and identities. */
  'factors-undo',
] as const;
export type LinkPurpose = (typeof LINK_PURPOSES)[number];

export const PAGE_PURPOSES = LINK_PURPOSES.filter((each) => each !== 'handed-over' && each !== 'confirmation-code');

/** The links by which the owner of a mailbox takes an account back. */
export const UNDO_PURPOSES = ['email-change-undo', 'factors-undo'] as const satisfies readonly LinkPurpose[];
export type UndoPurpose = (typeof UNDO_PURPOSES)[number];

/** A link that was sent by email. A newer one replaces the older of its user and purpose, except for `factors-undo`: each change has its own. */
export type Link = {
  readonly userId: string;
  readonly purpose: LinkPurpose;
  /** SHA-256 of the token in the link. The token itself is never stored. */
  readonly tokenHash: string;
  /** The canonical address that the link was sent to, or that an undo restores. */
  readonly email: string;
  /** The number of a link that undoes changes: later ones have greater numbers. 0 for other purposes. */
  readonly since: number;
  /**
   * The ids of the ways in that an undo keeps, since they are older. `null`: it keeps none, because nobody had proven the address; or the link is of
   * another purpose, or of a version before 1.1.0, and keeps what is older than `since`.
   */
  readonly keeps: readonly string[] | null;
  readonly createdAt: number;
  readonly expiresAt: number;
};

export const RESET_LIFETIME = 30 * 60_000;

/** Milliseconds in which links that verify or change an email address are valid: a day. */
export const EMAIL_LINK_LIFETIME = 86_400_000;

/** Whether an undo keeps the way in with this id. @param createdAt epoch milliseconds */
export const survivesUndo = (
  { keeps, since }: Pick<Link, 'keeps' | 'since'>,
  { id, createdAt = Number.POSITIVE_INFINITY }: { readonly id: string; readonly createdAt?: number },
): boolean => keeps?.includes(id) ?? createdAt < since;

/** Milliseconds in which a change can be undone by mail, and in which a former address is reserved for its user: seven days. */
export const UNDO_LIFETIME = 7 * 86_400_000;

/** How many live links of one address undo changes of factors. The first ones stay, since each undoes all later changes. */
export const FACTOR_UNDOS_KEPT = 10;

/** Milliseconds in which a stranger's request does not replace a live link, which its owner may be using. `mailLimits` limits how many are sent. */
export const LINK_SPACING = 5 * 60_000;
