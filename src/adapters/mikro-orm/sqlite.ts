import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { Kysely, type SqliteDatabase, SqliteDialect, type SqliteStatement } from 'kysely';
import { systemReason } from '../log/redact-error.ts';
import { SQLITE } from './dialects.ts';
import { sqliteSessions } from './one-statement-sessions.ts';
import type { DatabaseKind, SqliteOptions } from './options.ts';
import { makeDatabasePrivate } from './private-file.ts';
import { connectionOver, statementName } from './statements.ts';

/** A file of SQLite, which is created if it does not exist. Several processes of this machine may use it. */
export const sqliteKind = ({ path, synchronous }: SqliteOptions): DatabaseKind => {
  const kyselyDialect = nodeSqlite(path);
  return {
    dialect: SQLITE,
    types: { integer: 'integer', text: 'text', indexedText: 'text', collation: null },
    connect: async () => ({ ...connectionOver(new Kysely({ dialect: kyselyDialect })), connections: () => null }),
    async orm() {
      const { SqliteDriver } = await import('@mikro-orm/sql');
      return { driver: SqliteDriver, dbName: path, driverOptions: kyselyDialect };
    },
    settingStatements: ['pragma journal_mode = wal', `pragma synchronous = ${synchronous}`, 'pragma foreign_keys = on'],
    probeQuery: 'select 1',
    tablesQuery: `select name, true as is_here from sqlite_schema where type in ('table', 'view')`,
    completeSchema: (statements) =>
      statements.map((each) => (each.startsWith('create table ') ? `${each} strict` : each)),
    fasterSessions: sqliteSessions,
    timeQuery: null,
    aboutQuery: `select 'SQLite ' || sqlite_version() as version, true as may_create`,
    // One table is enough, since SQLite locks the whole file.
    emptyWrite: ([table]) => `delete from ${table} where false`,
    openFailure: (error) =>
      `The database ${path} (of DATABASE_URL or DATA_DIR) cannot be opened: ${systemReason(error)}`,
  };
};

/** Statements that stay prepared, besides those with a `statementName`. */
const TRANSACTION_STATEMENTS: readonly string[] = ['begin immediate', 'commit', 'rollback'];

/** A dialect that keeps statements prepared (`cachingStatements`), which MikroORM's own does not. */
const nodeSqlite = (path: string): SqliteDialect =>
  new SqliteDialect({
    // Loaded on use, since Node.js 22 prints a warning when it loads `node:sqlite`.
    database: async () => {
      const { DatabaseSync } = await import('node:sqlite');
      makeDatabasePrivate(path);
      return cachingStatements(new DatabaseSync(path));
    },
  });

const cachingStatements = (db: DatabaseSync): SqliteDatabase => {
  const cache = new Map<string, SqliteStatement>();
  return {
    prepare(text: string) {
      const found = cache.get(text);
      if (found !== undefined) return found;
      const statement = db.prepare(text);
      const prepared: SqliteStatement = {
        reader: statement.columns().length > 0,
        all: (values) => statement.all(...(values as SQLInputValue[])),
        run: (values) => statement.run(...(values as SQLInputValue[])),
        iterate: (values) => statement.iterate(...(values as SQLInputValue[])),
      };
      if (statementName(text) !== undefined || TRANSACTION_STATEMENTS.includes(text)) cache.set(text, prepared);
      return prepared;
    },
    close: () => db.close(),
  };
};
