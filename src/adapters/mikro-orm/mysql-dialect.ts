import { repeatedAfter } from './dialects.ts';
import type { Types } from './entities.ts';
import { mysqlFailure } from './failures.ts';
import type { SqlDialect } from './records.ts';

const SHARED: Omit<SqlDialect, 'returnsDeleted'> = {
  repeated: repeatedAfter(mysqlFailure),
  transact: (db, work) => db.transaction().execute(work),
  rowLock: 'update',
  booleans: Number,
  failureOf: mysqlFailure,
};

export const MARIADB: SqlDialect = { ...SHARED, returnsDeleted: true };
export const MYSQL: SqlDialect = { ...SHARED, returnsDeleted: false };

/**
 * A key has at most 3,072 bytes, and two texts. Bytes are compared as they are: no collation folds letters, or pads. The longest value is the id
 * of a credential, 1,364 characters of ASCII (ADR 0009).
 */
const INDEXED_TEXT = 'varbinary(1500)';

const typesOf = (collation: string): Types => ({
  integer: 'bigint',
  text: 'longtext',
  indexedText: INDEXED_TEXT,
  collation,
  tableOptions: 'default character set utf8mb4 engine = InnoDB',
});
export const MARIADB_TYPES = typesOf('utf8mb4_nopad_bin');
export const MYSQL_TYPES = typesOf('utf8mb4_0900_bin');

/**
 * What each connection has to set before anything else, whatever the server sets by default. Strict, since texts would be cut otherwise, and
 * without NO_BACKSLASH_ESCAPES, in which the driver's quoting of values would not be safe. READ COMMITTED: each statement sees what was committed
 * before it. English, by which violations are read. UTC, since `unix_timestamp` takes the local time, which is the same twice in a year.
 * @param limit milliseconds that a statement may take.
 */
export const mysqlSession = (limit: number): string[] => [
  `set session sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION', lc_messages = 'en_US', time_zone = '+00:00',
    innodb_lock_wait_timeout = ${Math.max(1, Math.ceil(limit / 1_000))}`,
  'set session transaction isolation level read committed',
];

/** The same for MariaDB, which ends a statement by itself, and a transaction that nobody goes on with. */
export const mariadbSession = (limit: number): string[] => [
  ...mysqlSession(limit),
  `set session max_statement_time = ${limit / 1_000}, idle_transaction_timeout = 10`,
];
