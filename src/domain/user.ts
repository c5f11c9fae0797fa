import { canonicalEmail } from './account.ts';

/** A registered user, as stored. Times are epoch milliseconds. SPEC "User". */
export type User = {
  /** ULID. */
  readonly id: string;
  /** As it was registered; unique regardless of letter case. */
  readonly username: string;
  /** In canonical form. */
  readonly email: string;
  readonly passwordHash: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** When the password was last changed; 0 for the first one. A new hash of the same password is not a change. */
  readonly passwordChangedAt: number;
};

/** The fields of a user that may be sent to clients: all except those about the password. */
export type PublicUser = Omit<User, 'passwordHash' | 'passwordChangedAt'>;

export const newUser = (input: {
  id: string;
  username: string;
  email: string;
  passwordHash: string;
  now: number;
}): User => ({
  id: input.id,
  username: input.username,
  email: canonicalEmail(input.email),
  passwordHash: input.passwordHash,
  createdAt: input.now,
  updatedAt: input.now,
  passwordChangedAt: 0,
});

/** Lists the public fields, so that a new field is private by default. */
export const publicUser = ({ id, username, email, createdAt, updatedAt }: User): PublicUser => ({
  id,
  username,
  email,
  createdAt,
  updatedAt,
});
