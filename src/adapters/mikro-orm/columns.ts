import type { AnyTable, ColumnType } from '../records/tables.ts';

/** How a column is stored, without whether it may be `null`. */
export type Kind = 'text' | 'integer' | 'boolean' | 'json';

/** A column of a table, in SQL. */
export type SqlColumn = {
  /** The name of the member of a row. */
  readonly member: string;
  /** The same in snake case. */
  readonly name: string;
  readonly kind: Kind;
  readonly isNullable: boolean;
};

/** The column of the version of a row. */
export const VERSION = 'version';

const nameOf = (member: string): string => member.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const toColumn = ([member, type]: readonly [string, ColumnType]): SqlColumn => ({
  member,
  name: nameOf(member),
  kind: type.replace('?', '') as Kind,
  isNullable: type.endsWith('?'),
});

/** The columns of a row. */
export const columnsOf = ({ columns }: AnyTable): readonly SqlColumn[] => Object.entries(columns).map(toColumn);

/** What is sent for a value. `toBoolean` gives booleans as the driver takes them. */
export const toSql = ({ kind }: SqlColumn, value: unknown, toBoolean: (value: boolean) => unknown): unknown => {
  if (value === null) return null;
  if (kind === 'json') return JSON.stringify(value);
  return typeof value === 'boolean' ? toBoolean(value) : value;
};

/** The value of what a driver returns: an integer of 64 bits may be a text, a boolean a number, a text its bytes in UTF-8. */
export const fromSql = ({ kind }: Pick<SqlColumn, 'kind'>, value: unknown): unknown => {
  if (value === null) return null;
  if (kind === 'json') return JSON.parse(String(value));
  if (kind === 'integer') return Number(value);
  return kind === 'boolean' ? Boolean(value) : String(value);
};
