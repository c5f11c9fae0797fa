export const LINK_PURPOSES = [
  'password-reset',
  'email-verification',
  /** "I did not register". */
  'not-me',
  'email-change',
  'email-change-undo',
] as const;
export type LinkPurpose = (typeof LINK_PURPOSES)[number];

/** A link that was sent by email. A user has one of each purpose at most: a newer one replaces the older. */
export type Link = {
  readonly userId: string;
  readonly purpose: LinkPurpose;
  /** SHA-256 of the token in the link. The token itself is never stored. */
  readonly tokenHash: string;
  /** The address that the link was sent to, or that an undo restores. Canonical. */
  readonly email: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
};

/** How long the link of a password reset is valid, in milliseconds: half an hour. */
export const RESET_LIFETIME = 30 * 60_000;

/** How long links are valid that verify or change an email address, in milliseconds: a day. */
export const EMAIL_LINK_LIFETIME = 86_400_000;

/** How long an email address that was given up is reserved for its former user. Milliseconds: seven days. */
export const UNDO_LIFETIME = 7 * 86_400_000;

/** How long it is reserved at most after a password reset by the new address, so that the former owner can still object. Milliseconds. */
export const UNDO_AFTER_RESET = 86_400_000;

/**
 * Milliseconds in which no request of a stranger replaces a link that can be used: the owner may be using it. How many links are sent is
 * limited besides (`mailLimits`).
 */
export const LINK_SPACING = 5 * 60_000;
