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
  /** When the user verified to own the email address; `null` until then. */
  readonly emailVerifiedAt: number | null;
  /** When an operator disabled the account; `null` while it is enabled. */
  readonly disabledAt: number | null;
};

/** The fields that `UserRepository.update` can change. */
export type ChangeableFields = Pick<User, 'username' | 'email' | 'emailVerifiedAt' | 'disabledAt'>;

/** The fields of a user that SPEC "User" names, which may be sent to clients. */
export type PublicUser = Pick<User, 'id' | 'username' | 'email' | 'createdAt' | 'updatedAt'>;

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
  emailVerifiedAt: null,
  disabledAt: null,
});

/** Names each public field, so that a new field is private by default. */
export const publicUser = ({ id, username, email, createdAt, updatedAt }: User): PublicUser => ({
  id,
  username,
  email,
  createdAt,
  updatedAt,
});
