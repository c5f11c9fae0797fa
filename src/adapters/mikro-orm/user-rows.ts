import { canonicalEmail, canonicalUsername } from '../../domain/account.ts';
import type { User } from '../../domain/user.ts';
import type { NewRow, Row } from './rows.ts';

/** The columns of which a user consists. */
export const USER_COLUMNS = [
  'id',
  'username',
  'email',
  'password_hash',
  'created_at',
  'updated_at',
  'password_changed_at',
] as const satisfies readonly (keyof Row<'users'>)[];

export const toUser = (row: Pick<Row<'users'>, (typeof USER_COLUMNS)[number]>): User => ({
  id: row.id,
  username: row.username,
  email: row.email,
  passwordHash: row.password_hash,
  createdAt: Number(row.created_at),
  updatedAt: Number(row.updated_at),
  passwordChangedAt: Number(row.password_changed_at),
});

export const toRow = (user: User): NewRow<'users'> => ({
  id: user.id,
  username: user.username,
  username_canonical: canonicalUsername(user.username),
  email: canonicalEmail(user.email),
  password_hash: user.passwordHash,
  created_at: user.createdAt,
  updated_at: user.updatedAt,
  password_changed_at: user.passwordChangedAt,
});
