/** A user at an OpenID provider. The provider gives the subject to nobody else, and never changes it; an email may change hands. */
export type IdentityKey = {
  /** As in the ID tokens of the provider. */
  readonly issuer: string;
  /** The claim `sub`. */
  readonly subject: string;
};

/** With which a user logs in. Times are epoch milliseconds. */
export type Identity = IdentityKey & {
  /** ULID. */
  readonly id: string;
  readonly userId: string;
  /** The name of the provider in the configuration, such as `google`. */
  readonly provider: string;
  /** What the provider said last: to be shown, never to find a user by. */
  readonly email: string | null;
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
};
