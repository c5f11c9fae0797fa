import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { CompiledQuery } from 'kysely';
import { beforeAll, expect } from 'vitest';
import { closedAtEnd } from '../closing.ts';
import { postgresOfTheTests } from '../servers/of-the-tests.ts';
import { type Database, openDatabase } from './open-database.ts';
import { temporaryDirectory } from './temporary-directory.ts';

/** The URL of a PostgreSQL in which tests may create databases, or `undefined` if there is none. */
export const TEST_DATABASE_URL: string | undefined = postgresOfTheTests();

/** The options for a PostgreSQL by its URL, with time limits in milliseconds that only a hang exceeds. */
export const onPostgresql = (url: string) => ({
  kind: 'postgresql' as const,
  url,
  poolSize: 10,
  connectionTimeout: 60_000,
  statementTimeout: 60_000,
  idleTimeout: 10_000,
  tablePrefix: '',
});

/** The options for a MariaDB by its URL. */
export const onMariadb = (url: string) => ({ ...onPostgresql(url), kind: 'mariadb' as const });

/** The options for a file of SQLite. */
export const onSqlite = (path: string) => ({
  kind: 'sqlite' as const,
  path,
  synchronous: 'normal' as const,
  tablePrefix: '',
});

/** Opens a new file of SQLite with tables. */
export const openEmbedded = (): Promise<Database> =>
  openDatabase(onSqlite(join(temporaryDirectory().path, 'test.sqlite')), { migrate: true });

/** Creates an empty database on a PostgreSQL. @param how options of `create database` @returns its URL, and `drop` */
export const createDatabase = async (server: string, how = ''): Promise<{ url: string; drop: () => Promise<void> }> => {
  const name = `tandem_test_${randomUUID().replaceAll('-', '')}`;
  const admin = async (sql: string) => {
    const { em, close } = await openDatabase(onPostgresql(server), { migrate: false });
    await em.execute(sql).finally(close);
  };
  await admin(`create database ${name} ${how}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return { url: url.href, drop: closedAtEnd(() => admin(`drop database ${name} with (force)`)) };
};

/** Opens a new database with tables on a PostgreSQL. */
export const openOnPostgresql = async (server: string): Promise<Database> =>
  openDatabase(onPostgresql((await createDatabase(server)).url), { migrate: true });

/** Opens a new database twice for all tests of a file, as two instances do. */
export const twoOnPostgresql = (tablePrefix = ''): readonly [() => Database, () => Database] => {
  let opened: readonly Database[] = [];
  beforeAll(async () => {
    const { url } = await createDatabase(TEST_DATABASE_URL ?? '');
    const open = () => openDatabase({ ...onPostgresql(url), tablePrefix }, { migrate: true });
    opened = [await open(), await open()];
  });
  return [() => opened[0] ?? expect.unreachable(), () => opened[1] ?? expect.unreachable()];
};

/** The number of sessions that wait for a lock in a database of PostgreSQL. */
export const waitingIn = async ({ em }: Pick<Database, 'em'>): Promise<number> =>
  (
    await em.execute<unknown[]>(
      `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    )
  ).length;

/** Sends a statement of one transaction. Everything else that a test sends meanwhile uses other connections. */
export type InTransaction = (statement: string, parameters?: readonly unknown[]) => Promise<unknown>;

/**
 * Runs `work` while a transaction is open, and then commits it. Unlike a transaction of MikroORM, it does not contain the
 * statements that `work` sends through the database.
 */
export const inTransaction = <Result>(
  { em }: Pick<Database, 'em'>,
  work: (send: InTransaction) => Promise<Result>,
): Promise<Result> =>
  em
    .getKysely()
    .transaction()
    .execute((transaction) =>
      work((statement, parameters = []) => transaction.executeQuery(CompiledQuery.raw(statement, [...parameters]))),
    );
