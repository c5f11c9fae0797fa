import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { CompiledQuery } from 'kysely';
import { postgresqlFailure, sqliteFailure } from './failures.ts';
import type { SqlDialect } from './records.ts';
import type { Sql } from './statements.ts';

/** Milliseconds in which a statement is repeated. */
const LONGEST_WAIT = 10_000;

/** Repeats what was undone because of another transaction. Waits without blocking the thread, as `busy_timeout` of SQLite would. */
export const repeatedAfter =
  (failureOf: SqlDialect['failureOf']): SqlDialect['repeated'] =>
  async (send) => {
    const end = performance.now() + LONGEST_WAIT;
    for (;;) {
      try {
        return await send();
      } catch (error) {
        const { kind } = failureOf(error);
        if ((kind !== 'conflict' && kind !== 'busy') || performance.now() > end) throw error;
        await pause(1 + 9 * Math.random());
      }
    }
  };

/** Milliseconds between two statements of a transaction. A transaction never waits that long. */
const IDLE_LIMIT = 10_000;
/**
 * READ COMMITTED, whatever the default of the database: each statement sees what was committed before it. The limit holds for this transaction
 * only: behind a pooler, the session goes to other clients afterwards (ADR 0019).
 */
const BEGIN = `begin isolation level read committed; set local idle_in_transaction_session_timeout = ${IDLE_LIMIT}`;

export const POSTGRESQL: SqlDialect = {
  repeated: repeatedAfter(postgresqlFailure),
  transact: (db, work) => inTransaction(db, BEGIN, work),
  rowLock: 'no key update',
  returnsDeleted: true,
  booleans: (value) => value,
  failureOf: postgresqlFailure,
};

/** Milliseconds after which others get a turn: SQLite answers at once, so a loop of statements would keep timers and sockets waiting. */
const LONGEST_TURN = 20;
let turnAt = 0;
const takeTurns = async (): Promise<void> => {
  if (performance.now() - turnAt < LONGEST_TURN) return;
  await nextTurn();
  turnAt = performance.now();
};

const repeated = repeatedAfter(sqliteFailure);
const untilFree: SqlDialect['repeated'] = async (send) => {
  await takeTurns();
  return repeated(send);
};

/** Takes the lock for writing at the beginning, so that what the work reads is still true when it writes. */
const BEGIN_IMMEDIATE = 'begin immediate';

export const SQLITE: SqlDialect = {
  repeated: untilFree,
  transact: (db, work) => untilFree(() => inTransaction(db, BEGIN_IMMEDIATE, work)),
  rowLock: null,
  returnsDeleted: true,
  booleans: Number,
  failureOf: sqliteFailure,
};

/** While another process writes, `begin` of SQLite fails, and the connection is free for reads before the next attempt. Later, nothing is busy. */
const inTransaction = <Result>(db: Sql, begin: string, work: (transaction: Sql) => Promise<Result>): Promise<Result> =>
  db.connection().execute(async (connection) => {
    try {
      await connection.executeQuery(CompiledQuery.raw(begin));
      const result = await work(connection);
      await connection.executeQuery(CompiledQuery.raw('commit'));
      return result;
    } catch (error) {
      // There may be none: it has not begun, or SQLite has ended it by itself, for example when the disk is full.
      await connection.executeQuery(CompiledQuery.raw('rollback')).catch(() => undefined);
      throw error;
    }
  });
