import { canonicalEmail } from './account.ts';

/** A registered person, as stored. Times are epoch milliseconds. SPEC "User". */
export type User = {
  /** ULID. */
  readonly id: string;
  /** As its owner wrote it; unique without regard to letter case. */
  readonly username: string;
  /** In canonical form. */
  readonly email: string;
  readonly passwordHash: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** When the password was changed last; 0 when it is the first one. Another hash of the same password is no change. */
  readonly passwordChangedAt: number;
};

/** What may leave the service of a user: everything but the hash and what is known of the password. */
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

/** Names what leaves rather than what stays, so that a new secret field stays by default. */
export const publicUser = ({ id, username, email, createdAt, updatedAt }: User): PublicUser => ({
  id,
  username,
  email,
  createdAt,
  updatedAt,
});
