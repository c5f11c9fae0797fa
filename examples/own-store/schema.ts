import type { Pool } from 'pg';
import { type AnyTable, keyName, TABLES } from 'tandem';

/** The schema of the tables, beside those of the application. */
export const SCHEMA = 'auth';

/** Texts are compared by their bytes. JSON is a text, since `jsonb` refuses NUL. */
const TYPES = { text: 'text collate "C"', integer: 'bigint', boolean: 'boolean', json: 'text' };

/** @param users the table of the users, with whom the rows of others go. */
const statementsOf = ({ name, columns, key, unique = {}, indexes = {}, ofUser }: AnyTable, users: string): string[] => {
  const listed = (each: readonly string[]): string => each.map((column) => `"${column}"`).join(', ');
  const defined = Object.entries(columns).map(([column, type]) => {
    const sqlType = TYPES[type.replace('?', '') as keyof typeof TYPES];
    const owner = ofUser && column === 'userId' ? ` references ${users} (id) on delete cascade` : '';
    return `"${column}" ${sqlType}${type.endsWith('?') ? '' : ' not null'}${owner}`;
  });
  defined.push('version bigint not null', `constraint ${keyName({ name })} primary key (${listed(key)})`);
  const indexed = (kind: string, declared: typeof unique): string[] =>
    Object.entries(declared).map(
      ([index, of]) => `create ${kind} if not exists ${index} on ${SCHEMA}.${name} (${listed(of)})`,
    );
  return [
    `create table if not exists ${SCHEMA}.${name} (${defined.join(', ')})`,
    ...indexed('unique index', unique),
    ...indexed('index', indexes),
  ];
};

/**
 * Creates the tables, unless they are there. Several processes may do so at the same time.
 * @param users the table of the users, if it is the application's own. Its key is `id`, a text.
 */
export const createTables = async (pool: Pool, users?: string): Promise<void> => {
  const { users: ours, ...others } = TABLES;
  const tables = [...(users === undefined ? [ours] : []), ...Object.values(others)];
  const statements = tables.flatMap((table) => statementsOf(table, users ?? `${SCHEMA}.users`));
  const lock = `select pg_advisory_xact_lock(hashtext('${SCHEMA}'))`;
  await pool.query([lock, `create schema if not exists ${SCHEMA}`, ...statements].join(';\n'));
};
