import { SqliteDriver } from '@mikro-orm/sql';
import { systemReason } from '../log/redact-error.ts';
import { SQLITE } from './dialects.ts';
import type { DatabaseKind } from './kind.ts';
import { nodeSqlite } from './node-sqlite.ts';
import { sqliteSessions } from './one-statement-sessions.ts';
import type { SqliteOptions } from './options.ts';
import { makeDatabasePrivate } from './private-file.ts';

/**
 * A file of SQLite, which is created if necessary. Several processes of this machine may use it. With `synchronous = normal`, a power cut may
 * take the last moments, and never corrupts the file: it has an effect at checkpoints only. With `full`, each commit is on the disk.
 */
export const sqliteKind = ({ path, synchronous }: SqliteOptions): DatabaseKind => {
  // What is wrong with the directory is said when the file is opened.
  const options = () => {
    makeDatabasePrivate(path);
    return nodeSqlite(path);
  };
  return {
    dialect: SQLITE,
    types: { integer: 'integer', text: 'text', indexedText: 'text', collation: null, tableOptions: 'strict' },
    options: { driver: SqliteDriver, dbName: path, driverOptions: options },
    settings: ['pragma journal_mode = wal', `pragma synchronous = ${synchronous}`, 'pragma foreign_keys = on'],
    tables: `select name, true as is_here from sqlite_schema where type in ('table', 'view')`,
    // Each create of a table is a line.
    schema: (sql) => sql.replaceAll(/^(create table .*)\);$/gm, '$1) strict;'),
    sessions: sqliteSessions,
    time: null,
    about: `select 'SQLite ' || sqlite_version() as version, true as may_create`,
    pool: async () => () => null,
    openFailure: (error) =>
      `The database ${path} (of DATABASE_URL or DATA_DIR) cannot be opened: ${systemReason(error)}`,
  };
};
