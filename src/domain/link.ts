/** What a link that was sent by email allows. */
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
  /** The address that the link is about: the one it was sent to, or the one that an undo restores. Canonical. */
  readonly email: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
};

/** How long the link of a password reset is valid, in milliseconds: half an hour. */
export const RESET_LIFETIME = 30 * 60_000;

/** How long links are valid that prove or change an email address, in milliseconds: a day. */
export const EMAIL_LINK_LIFETIME = 86_400_000;

/** How long an email address that was given up can be taken back, and belongs to nobody else. Milliseconds: seven days. */
export const UNDO_LIFETIME = 7 * 86_400_000;

/** What is left of that after a reset of the password by the new address, so that the owner of the former one can still object. */
export const UNDO_AFTER_RESET = 86_400_000;

/** What was sent to an account because somebody asked for it who was not logged in. */
export type LinksAsked = {
  /** Links within the last `LINK_SPACING`. */
  readonly lately: number;
  /** Links within the last `LINKS_PERIOD`. */
  readonly inPeriod: number;
  /** Whether one of them can still be used. */
  readonly hasLive: boolean;
};

/** Milliseconds. A newer link replaces the older: whoever asks all the time must not replace the link that the owner is about to use. */
export const LINK_SPACING = 5 * 60_000;
/** Milliseconds. */
export const LINKS_PERIOD = 86_400_000;
const LINKS_PER_PERIOD = 5;

/**
 * Whether one more link may be sent that somebody asks for who is not logged in. The owner is never left without one: after
 * `LINKS_PER_PERIOD` links the next one is sent when none is live any more.
 */
export const mayAskForLink = ({ lately, inPeriod, hasLive }: LinksAsked): boolean =>
  lately === 0 && (inPeriod < LINKS_PER_PERIOD || !hasLive);
