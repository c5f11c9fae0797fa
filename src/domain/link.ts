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
