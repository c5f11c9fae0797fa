import type { MysqlPool, MysqlPoolConnection } from 'kysely';
import { withTimeout } from '../limits/response-timeout.ts';
import { LoggableError } from '../log/redact-error.ts';
import { field } from './failures.ts';
import type { PoolState } from './options.ts';

/** What is used of mysql2's pool. The queues are private to it (ADR 0034). */
export type DriversPool = {
  getConnection(callback: (error: unknown, connection: DriversConnection) => void): void;
  end(callback: (error: unknown) => void): void;
  readonly _allConnections: { readonly length: number };
  readonly _freeConnections: { readonly length: number };
  readonly _connectionQueue: { readonly length: number };
};
type DriversConnection = {
  query(sql: string, values: readonly unknown[], callback: Callback): unknown;
  release(): void;
  /** Also takes it from the pool. */
  destroy(): void;
};
type Callback = (error: unknown, result?: unknown) => void;

/** Error numbers of a server that is read-only: ER_OPTION_PREVENTS_STATEMENT, ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION, ER_READ_ONLY_MODE. */
const READ_ONLY: readonly unknown[] = [1290, 1792, 1836];

/** In which the server has to end a statement by itself, before its connection is closed. */
const REPORT_TIME_MS = 500;

/**
 * A pool over the driver's, which prepares each connection before anything else is sent by it.
 * @param session statements. If one is refused, the connection is closed, and what was asked on it fails for that reason.
 * @param limits milliseconds. If a statement takes longer, the connection is closed: a server that hangs would not respond to the next one
 *   either. The driver itself would wait for a free connection without an end.
 */
export const preparingPool = (
  pool: DriversPool,
  session: readonly string[],
  limits: { readonly statement: number; readonly connection: number },
): MysqlPool & { readonly state: () => PoolState } => {
  const connections = new WeakMap<DriversConnection, MysqlPoolConnection>();
  const prepare = async (driver: DriversConnection): Promise<MysqlPoolConnection> => {
    const known = connections.get(driver);
    if (known !== undefined) return known;
    const query = limitedQuery(driver, limits.statement + REPORT_TIME_MS);
    try {
      for (const statement of session)
        await new Promise<void>((resolve, reject) =>
          query(statement, [], (error) => (error ? reject(error) : resolve())),
        );
    } catch (error) {
      driver.destroy();
      throw error;
    }
    // Of a connection, Kysely uses the rest to abort statements.
    const connection = { query, release: () => driver.release() } as MysqlPoolConnection;
    connections.set(driver, connection);
    return connection;
  };
  const take = async (): Promise<MysqlPoolConnection> => {
    let isLate = false;
    const taken = new Promise<DriversConnection>((resolve, reject) => {
      pool.getConnection((error, connection) => {
        if (error) reject(error);
        else if (isLate) connection.release();
        else resolve(connection);
      });
    });
    const late = () => {
      isLate = true;
      return new LoggableError('no connection of the pool became free in time');
    };
    return prepare(await withTimeout(limits.connection, taken, late));
  };
  return {
    getConnection: (callback) => void take().then((connection) => callback(null, connection), callback as Callback),
    end: (callback) => pool.end(callback),
    state: () => ({
      used: pool._allConnections.length - pool._freeConnections.length,
      idle: pool._freeConnections.length,
      waiting: pool._connectionQueue.length,
    }),
  };
};

const limitedQuery = (driver: DriversConnection, limit: number) =>
  ((sql: string, values: readonly unknown[], callback: Callback) => {
    const timer = setTimeout(() => {
      driver.destroy();
      callback(new LoggableError('the connection was closed, since a statement took too long'));
    }, limit);
    driver.query(sql, values, (error, result) => {
      clearTimeout(timer);
      // After a fail-over, an address leads to the new primary, but this connection to the old one.
      if (READ_ONLY.includes(field(error, 'errno'))) driver.destroy();
      callback(error, result);
    });
  }) as MysqlPoolConnection['query'];
