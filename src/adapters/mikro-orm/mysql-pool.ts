import { LoggableError } from '../log/redact-error.ts';
import { field } from './failures.ts';
import type { PoolState } from './options.ts';

/** The parts of mysql2's pool and connections that are used here. */
export type MysqlPool = {
  getConnection: (callback: Taking) => void;
  on(event: 'connection', listener: (connection: Connection) => void): unknown;
  readonly _allConnections: { readonly length: number };
  readonly _freeConnections: { readonly length: number };
  readonly _connectionQueue: { readonly length: number };
};
type Connection = {
  readonly stream: { destroy(): void };
  /** Also takes it from the pool. */
  destroy(): void;
  query: (sql: string, values: readonly unknown[], callback: Callback) => unknown;
};
type Taking = (error: unknown, connection?: { release(): void }) => void;
type Callback = (error: unknown, result?: unknown) => void;

/** Error numbers of a server that is read-only: ER_OPTION_PREVENTS_STATEMENT, ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION, ER_READ_ONLY_MODE. */
const READ_ONLY: readonly unknown[] = [1290, 1792, 1836];

/** In which the server has to end a statement by itself, before its connection is closed. */
const REPORT_TIME_MS = 500;

/**
 * Prepares each connection of the pool, before anything else is sent by it.
 * @param session statements. If one is refused, the connection is closed, and what was asked on it fails for that reason.
 * @param limits milliseconds. If a statement takes longer, the connection is closed: a server that hangs would not respond to the next one
 *   either. The driver itself would wait for a free connection without an end.
 * @returns what tells the current state of the pool
 */
export const prepareConnections = (
  pool: MysqlPool,
  session: readonly string[],
  limits: { readonly statement: number; readonly connection: number },
): (() => PoolState) => {
  const getConnection = pool.getConnection.bind(pool);
  pool.getConnection = (callback) => {
    let isLate = false;
    const giveUp = () => {
      isLate = true;
      callback(new LoggableError('no connection of the pool became free in time'));
    };
    const timer = setTimeout(giveUp, limits.connection);
    getConnection((...taken) => {
      clearTimeout(timer);
      if (isLate) taken[1]?.release();
      else callback(...taken);
    });
  };
  pool.on('connection', (connection) => {
    const query = connection.query.bind(connection);
    const close = () => connection.stream.destroy();
    let refusal: unknown;
    connection.query = (sql, values, callback) => {
      const timer = setTimeout(close, limits.statement + REPORT_TIME_MS);
      return query(sql, values, (error, result) => {
        clearTimeout(timer);
        // After a fail-over, an address leads to the new primary, but this connection to the old one.
        if (READ_ONLY.includes(field(error, 'errno'))) connection.destroy();
        callback(error && (refusal ?? error), result);
      });
    };
    const refused = (error: unknown) => {
      refusal ??= error;
      close();
    };
    for (const statement of session) connection.query(statement, [], (error) => error && refused(error));
  });
  return () => ({
    used: pool._allConnections.length - pool._freeConnections.length,
    idle: pool._freeConnections.length,
    waiting: pool._connectionQueue.length,
  });
};
