import { canonicalEmail, canonicalUsername } from '../../domain/account.ts';
import type { ChangeableFields, User } from '../../domain/user.ts';
import type { Row } from './rows.ts';

/** The columns of a user. */
export const USER_COLUMNS = [
  'id',
  'username',
  'email',
  'password_hash',
  'created_at',
  'updated_at',
  'password_changed_at',
  'email_verified_at',
  'disabled_at',
] as const satisfies readonly (keyof Row<'users'>)[];

export const toTime = (value: number | string | null): number | null => (value === null ? null : Number(value));

export const toUser = (row: Pick<Row<'users'>, (typeof USER_COLUMNS)[number]>): User => ({
  id: row.id,
  username: row.username,
  email: row.email,
  passwordHash: row.password_hash,
  createdAt: Number(row.created_at),
  updatedAt: Number(row.updated_at),
  passwordChangedAt: Number(row.password_changed_at),
  emailVerifiedAt: toTime(row.email_verified_at),
  disabledAt: toTime(row.disabled_at),
});

/** The columns of the given fields. */
export const toFields = ({ username, email, emailVerifiedAt, disabledAt }: Partial<ChangeableFields>) => ({
  ...(username !== undefined && { username, username_canonical: canonicalUsername(username) }),
  ...(email !== undefined && { email: canonicalEmail(email) }),
  ...(emailVerifiedAt !== undefined && { email_verified_at: emailVerifiedAt }),
  ...(disabledAt !== undefined && { disabled_at: disabledAt }),
});
