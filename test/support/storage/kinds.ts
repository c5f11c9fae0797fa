import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { DatabaseOptions } from '../../../src/infrastructure/config/stores.ts';
import { createDatabase, onPostgresql, onSqlite, TEST_DATABASE_URL } from './databases.ts';
import { temporaryDirectory } from './temporary-directory.ts';

/** An empty file of SQLite, until the test has finished. */
export const emptyFile = async () => {
  const { path, remove } = temporaryDirectory();
  onTestFinished(remove);
  return onSqlite(join(path, 'test.sqlite'));
};

/** An empty database of PostgreSQL, until the test has finished. */
export const emptyDatabase = async () => {
  const { url, drop } = await createDatabase(TEST_DATABASE_URL ?? '');
  onTestFinished(drop);
  return onPostgresql(url);
};

/** The kinds of databases that can be tried here; all of them in CI. */
export const KINDS: readonly {
  readonly on: string;
  readonly kind: 'sqlite' | 'postgresql';
  readonly empty: () => Promise<DatabaseOptions>;
}[] = [
  { on: 'SQLite', kind: 'sqlite', empty: emptyFile },
  ...(TEST_DATABASE_URL === undefined ? [] : [{ on: 'PostgreSQL', kind: 'postgresql' as const, empty: emptyDatabase }]),
];
