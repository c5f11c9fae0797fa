import { join } from 'node:path';
import type { DatabaseOptions } from '../../../src/adapters/mikro-orm/options.ts';
import { canStartMariadb, startMariadb } from '../servers/of-the-tests.ts';
import { createDatabase, onMariadb, onPostgresql, onSqlite, TEST_DATABASE_URL } from './databases.ts';
import { openDatabase } from './open-database.ts';
import { temporaryDirectory } from './temporary-directory.ts';

/** The options for an empty file of SQLite. */
export const emptyFile = async () => onSqlite(join(temporaryDirectory().path, 'test.sqlite'));

/** Creates an empty database of PostgreSQL. */
export const emptyDatabase = async () => onPostgresql((await createDatabase(TEST_DATABASE_URL ?? '')).url);

/** Creates an empty database of a new MariaDB. */
const emptyMariadb = async () => {
  const { url } = await startMariadb();
  const { em, close } = await openDatabase(onMariadb(`${url}mysql`), { migrate: false });
  await em.execute('create database tandem');
  await close();
  return onMariadb(`${url}tandem`);
};

type Kind = {
  readonly on: string;
  readonly kind: 'sqlite' | 'postgresql' | 'mariadb';
  readonly empty: () => Promise<DatabaseOptions>;
};

/** The kinds of databases here, without MariaDB. They have transactions for changes of tables, and CI has all of them. */
export const KINDS: readonly Kind[] = [
  { on: 'SQLite', kind: 'sqlite', empty: emptyFile },
  ...(TEST_DATABASE_URL === undefined ? [] : [{ on: 'PostgreSQL', kind: 'postgresql' as const, empty: emptyDatabase }]),
];

/** All kinds of databases here. CI has all of them. */
export const ALL_KINDS: readonly Kind[] = [
  ...KINDS,
  ...(canStartMariadb() ? [{ on: 'MariaDB', kind: 'mariadb' as const, empty: emptyMariadb }] : []),
];
