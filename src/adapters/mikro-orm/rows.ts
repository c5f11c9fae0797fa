import type { InferKyselyDB } from '@mikro-orm/sql';
import {
  type ColumnType,
  type Insertable,
  type InsertType,
  type Selectable,
  type SelectType,
  sql,
  type UpdateType,
} from 'kysely';
import type { Amr, Authenticated } from '../../domain/assurance.ts';
import { type Attributes, hasAttributes } from '../../domain/attributes.ts';
import {
  type ChangeableFields,
  canonicalEmail,
  canonicalUsername,
  type User,
  type UserInTokens,
} from '../../domain/user.ts';
import type { ENTITIES } from './entities.ts';
import { type DatabaseAccess, translated } from './queries.ts';

/** The columns that a rotation reads, which is the most frequent statement. */
export const TOKEN_USER_COLUMNS = [
  'id',
  'username',
  'email',
  'password_hash',
  'created_at',
  'updated_at',
  'password_changed_at',
  'email_verified_at',
  'disabled_at',
  'second_factor_at',
  'attributes',
] as const satisfies readonly (keyof Row<'users'>)[];

export const USER_COLUMNS = [...TOKEN_USER_COLUMNS, 'locale'] as const satisfies readonly (keyof Row<'users'>)[];

export const toTime = (value: number | string | null): number | null => (value === null ? null : Number(value));

export const toUserInTokens = (row: Pick<Row<'users'>, (typeof TOKEN_USER_COLUMNS)[number]>): UserInTokens => ({
  id: row.id,
  username: row.username,
  email: row.email,
  passwordHash: row.password_hash,
  createdAt: Number(row.created_at),
  updatedAt: Number(row.updated_at),
  passwordChangedAt: Number(row.password_changed_at),
  emailVerifiedAt: toTime(row.email_verified_at),
  disabledAt: toTime(row.disabled_at),
  secondFactorAt: toTime(row.second_factor_at),
  attributes: toAttributes(row.attributes),
});

/** Text, and not `jsonb`, which refuses NUL in a string. Most users have none, and cost nothing. */
const toAttributes = (text: string | null): Attributes => (text === null ? {} : JSON.parse(text));
export const attributesText = (attributes: Attributes): string | null =>
  hasAttributes(attributes) ? JSON.stringify(attributes) : null;

export const toUser = (row: Pick<Row<'users'>, (typeof USER_COLUMNS)[number]>): User => ({
  ...toUserInTokens(row),
  locale: row.locale,
});

type AuthenticatedRow = { readonly [Name in 'authenticatedAt' | 'knownAt' | 'heldAt']: number | string | null } & {
  readonly amr: string | null;
};

/**
 * What a row says about the authentication of its session. Earlier versions wrote neither `knownAt` nor `heldAt`: of two factors they do not
 * know when which was shown, but it was when the session was opened, or later. The first version did not write the others either, and all
 * its sessions were opened with a password.
 */
export const toAuthenticated = (row: AuthenticatedRow, createdAt: number | string): Authenticated => {
  const authenticatedAt = Number(row.authenticatedAt ?? createdAt);
  const amr = row.amr === '' ? [] : ((row.amr ?? 'pwd').split(' ') as Amr[]);
  const hasBoth = amr.includes('mfa');
  const unknown = hasBoth ? Math.min(Number(createdAt), authenticatedAt) : authenticatedAt;
  const timeOf = (at: number | string | null, wasShown: boolean) => toTime(at) ?? (wasShown ? unknown : null);
  return {
    authenticatedAt,
    amr,
    knownAt: timeOf(row.knownAt, hasBoth || amr.includes('pwd')),
    heldAt: timeOf(row.heldAt, hasBoth || amr.includes('otp') || amr.includes('pop')),
  };
};

export const toFields = ({
  username,
  email,
  emailVerifiedAt,
  disabledAt,
  secondFactorAt,
  attributes,
  locale,
}: Partial<ChangeableFields>) => ({
  ...(username !== undefined && { username, username_canonical: canonicalUsername(username) }),
  ...(email !== undefined && { email: canonicalEmail(email) }),
  ...(emailVerifiedAt !== undefined && { email_verified_at: emailVerifiedAt }),
  ...(disabledAt !== undefined && { disabled_at: disabledAt }),
  ...(secondFactorAt !== undefined && { second_factor_at: secondFactorAt }),
  ...(attributes !== undefined && { attributes: attributesText(attributes) }),
  ...(locale !== undefined && { locale }),
});

/** The tables, their columns and the defaults, from the entities. */
type Entities = InferKyselyDB<(typeof ENTITIES)[number]>;

/** Kysely returns what the driver parsed: an int8 is a number from PGlite, a string from PostgreSQL. */
type Read<Value> = Value extends number ? number | string : Value;

/** Kysely passes values to the driver as they are, and the driver would send an array as a PostgreSQL array, not as JSON. */
type Written<Value> = Value extends readonly object[] ? string : Value;

type Column<T> = ColumnType<Read<SelectType<T>>, Written<InsertType<T>>, Written<UpdateType<T>>>;

/** The tables as Kysely reads and writes them. */
export type Tables = {
  [Name in keyof Entities]: { [Key in keyof Entities[Name]]: Column<Entities[Name][Key]> };
};

export type Row<Name extends keyof Tables> = Selectable<Tables[Name]>;

/** A row to insert, with every column, also those that have a default. */
export type NewRow<Name extends keyof Tables> = Required<Insertable<Tables[Name]>>;

type Purge = {
  readonly table: keyof Tables;
  /** The column that identifies a row. */
  readonly key: string;
  readonly time: string;
  readonly until: number;
  readonly limit: number;
};

/** Deletes rows whose time has come, the earliest first. Skips those that another instance is deleting. @returns how many. */
export const purgeRows = async (db: DatabaseAccess, { table, key, time, until, limit }: Purge): Promise<number> => {
  const [id, at] = [sql.ref(key), sql.ref(time)];
  const old = sql`select ${id} from ${sql.table(table)} where ${at} <= ${until}::bigint order by ${at} limit ${limit} for update skip locked`;
  const purge = sql`delete from ${sql.table(table)} where ${id} = any(array(${old}))`;
  return Number((await translated(() => purge.execute(db.em.getKysely<Tables>()))).numAffectedRows);
};
