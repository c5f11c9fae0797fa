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

/** The links that were sent to an account on requests without authentication. */
export type RecentLinks = {
  /** Links within the last `LINK_SPACING`. */
  readonly lately: number;
  /** Links within the last `LINKS_PERIOD`. */
  readonly inPeriod: number;
  /** Whether one of them can still be used. */
  readonly hasLive: boolean;
};

/** Milliseconds. A new link replaces the older one, so repeated requests of a stranger must not replace the link that the owner is using. */
export const LINK_SPACING = 5 * 60_000;
/** Milliseconds. */
export const LINKS_PERIOD = 86_400_000;
const LINKS_PER_PERIOD = 5;

/**
 * Whether another link may be sent on a request without authentication. The owner always has one: after `LINKS_PER_PERIOD` links, the next
 * one is sent when none is live any more.
 */
export const isLinkAllowed = ({ lately, inPeriod, hasLive }: RecentLinks): boolean =>
  lately === 0 && (inPeriod < LINKS_PER_PERIOD || !hasLive);
