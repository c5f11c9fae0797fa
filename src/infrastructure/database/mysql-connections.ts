import type { PoolState } from './kind.ts';

/** The parts of mysql2's pool and connections that are used here. */
export type MysqlPool = {
  on(event: 'connection', listener: (connection: Connection) => void): unknown;
  readonly _allConnections: { readonly length: number };
  readonly _freeConnections: { readonly length: number };
  readonly _connectionQueue: { readonly length: number };
};
type Connection = {
  readonly stream: { destroy(): void };
  query: (sql: string, values: readonly unknown[], callback: Callback) => unknown;
};
type Callback = (error: unknown, result?: unknown) => void;

/** Milliseconds that the server has to end a statement by itself, before its connection is closed. */
const REPORT_TIME = 500;

/**
 * Prepares each connection of the pool, before anything else is sent by it.
 * @param session statements. If one is refused, the connection is closed.
 * @param limit milliseconds. If a statement takes longer, the connection is closed: a server that hangs would not respond to the next one either.
 * @returns what tells the current state of the pool
 */
export const prepareConnections = (pool: MysqlPool, session: readonly string[], limit: number): (() => PoolState) => {
  pool.on('connection', (connection) => {
    const query = connection.query.bind(connection);
    const close = () => connection.stream.destroy();
    connection.query = (sql, values, callback) => {
      const timer = setTimeout(close, limit + REPORT_TIME);
      return query(sql, values, (...answer) => {
        clearTimeout(timer);
        callback(...answer);
      });
    };
    for (const statement of session) connection.query(statement, [], (error) => error && close());
  });
  return () => ({
    used: pool._allConnections.length - pool._freeConnections.length,
    idle: pool._freeConnections.length,
    waiting: pool._connectionQueue.length,
  });
};
