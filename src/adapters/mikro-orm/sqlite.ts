import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { Kysely, type SqliteDatabase, SqliteDialect, type SqliteStatement } from 'kysely';
import { systemReason } from '../log/redact-error.ts';
import { SQLITE } from './dialects.ts';
import { sqliteSessions } from './one-statement-sessions.ts';
import type { DatabaseKind, SqliteOptions } from './options.ts';
import { makeDatabasePrivate } from './private-file.ts';
import { anyConnection, statementName } from './statements.ts';

/**
 * A file of SQLite, which is created if necessary. Several processes of this machine may use it. With `synchronous = normal`, a power cut may
 * take the last moments, and never corrupts the file: it has an effect at checkpoints only. With `full`, each commit is on the disk.
 */
export const sqliteKind = ({ path, synchronous }: SqliteOptions): DatabaseKind => {
  const dialect = nodeSqlite(path);
  return {
    dialect: SQLITE,
    types: { integer: 'integer', text: 'text', indexedText: 'text', collation: null },
    connect: async () => ({ ...anyConnection(new Kysely({ dialect })), connections: () => null }),
    async orm() {
      const { SqliteDriver } = await import('@mikro-orm/sql');
      return { driver: SqliteDriver, dbName: path, driverOptions: dialect };
    },
    settings: ['pragma journal_mode = wal', `pragma synchronous = ${synchronous}`, 'pragma foreign_keys = on'],
    probe: 'select 1',
    tables: `select name, true as is_here from sqlite_schema where type in ('table', 'view')`,
    schema: (statements) => statements.map((each) => (each.startsWith('create table ') ? `${each} strict` : each)),
    sessions: sqliteSessions,
    time: null,
    about: `select 'SQLite ' || sqlite_version() as version, true as may_create`,
    // A lock is one of the file.
    writesNothing: ([table]) => `delete from ${table} where false`,
    openFailure: (error) =>
      `The database ${path} (of DATABASE_URL or DATA_DIR) cannot be opened: ${systemReason(error)}`,
  };
};

/** Sent again and again, besides the statements that have a name. */
const OF_TRANSACTIONS: readonly string[] = ['begin immediate', 'commit', 'rollback'];

/** What the driver sends is what a statement takes: `Booleans` of the dialect makes numbers of booleans. */
const toPrepared = (statement: StatementSync): SqliteStatement => ({
  reader: statement.columns().length > 0,
  all: (values) => statement.all(...(values as SQLInputValue[])),
  run: (values) => statement.run(...(values as SQLInputValue[])),
  iterate: (values) => statement.iterate(...(values as SQLInputValue[])),
});

/**
 * Kysely's dialect over a file, by `node:sqlite`. MikroORM's own prepares a statement each time, which takes longer than to execute it: the
 * statements of a refresh took 0.23 ms instead of 0.17, and finding a user 0.056 instead of 0.032.
 */
const nodeSqlite = (path: string): SqliteDialect =>
  new SqliteDialect({
    // Loaded here, since Node.js 22 warns of it.
    database: async () => {
      const { DatabaseSync } = await import('node:sqlite');
      makeDatabasePrivate(path);
      return keepingStatements(new DatabaseSync(path));
    },
  });

const keepingStatements = (db: DatabaseSync): SqliteDatabase => {
  const kept = new Map<string, SqliteStatement>();
  return {
    prepare(text: string) {
      const found = kept.get(text);
      if (found !== undefined) return found;
      const prepared = toPrepared(db.prepare(text));
      if (statementName(text) !== undefined || OF_TRANSACTIONS.includes(text)) kept.set(text, prepared);
      return prepared;
    },
    close: () => db.close(),
  };
};
