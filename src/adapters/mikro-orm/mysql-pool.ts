import type { MysqlPoolConnection } from 'kysely';
import { LoggableError } from '../log/redact-error.ts';
import { NOT_READY } from './dialects.ts';
import { field } from './failures.ts';

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
export type Callback = (error: unknown, result?: unknown) => void;

/**
 * Error numbers of a server that is read-only: ER_OPTION_PREVENTS_STATEMENT, ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION, ER_READ_ONLY_MODE, or that a
 * cluster is without: NOT_READY, ER_ERROR_DURING_COMMIT.
 */
const UNFIT: readonly unknown[] = [1290, 1792, 1836, NOT_READY, 1180];

/** In which the server has to end a statement by itself, before its connection is closed. */
const REPORT_TIME_MS = 500;
/** Whether the server is a node of a Galera cluster, and whether it takes no writes. */
const STATE = `show global variables where variable_name in ('wsrep_on', 'read_only') and value = 'ON'`;
/** Each read waits for what was committed at other nodes before. The last one fails at a node without its cluster, and waits at one that is behind. */
const AS_NODE = ['set session wsrep_sync_wait = 1', 'select 1'];

/** A server, whose connections are prepared before anything else is sent by them. */
export type PreparedServer = {
  /** Waits without an end until a connection is free. @param isLate whether nobody waits any more */
  readonly connect: (isLate: () => boolean) => Promise<MysqlPoolConnection>;
  /** Closes the connections, those in use when they are returned, and refuses all who wait for one. */
  readonly leave: (error: unknown) => void;
  readonly isNode: () => boolean;
};

/**
 * @param session statements. If one is refused, the connection is closed, and what was asked on it fails for that reason.
 * @param limit milliseconds. If a statement takes longer, the connection is closed: a server that hangs would not respond to the next one either.
 * @param others whether there are others to go to. Then only a node that takes writes is used: between others, a fail-over would lose some.
 * @param onFailure called when the server hangs, has broken a connection, or cannot write.
 */
export const preparedServer = (
  pool: DriversPool,
  session: readonly string[],
  limit: number,
  others: boolean,
  onFailure: (error: unknown) => void,
): PreparedServer => {
  /** Connections of a stay that is over are closed. */
  let stay = {};
  let isNode = false;
  const connections = new WeakMap<DriversConnection, { readonly connection: MysqlPoolConnection; since: object }>();
  const waiting = new Set<(error: unknown) => void>();

  const prepare = async (driver: DriversConnection): Promise<MysqlPoolConnection> => {
    const since = stay;
    const query = limitedQuery(driver, limit + REPORT_TIME_MS, (error) => {
      if (stay === since) onFailure(error);
    });
    const send = (statement: string) =>
      new Promise<readonly unknown[]>((resolve, reject) =>
        query(statement, [], (error, result) => (error ? reject(error) : resolve(result as readonly unknown[]))),
      );
    try {
      for (const statement of session) await send(statement);
      const on = (await send(STATE)).map((row) => field(row, 'Variable_name'));
      isNode = on.includes('wsrep_on');
      if (others && !isNode) throw new LoggableError('one of several servers is no node of a Galera cluster');
      if (others && on.includes('read_only')) throw new LoggableError('the node is read-only');
      if (isNode) for (const statement of AS_NODE) await send(statement);
    } catch (error) {
      driver.destroy();
      throw field(error, 'errno') === NOT_READY ? new LoggableError('the node is not connected to its cluster') : error;
    }
    const release = () => (stay === since ? driver.release() : driver.destroy());
    // Of a connection, Kysely uses the rest to abort statements.
    const connection = { query, release } as MysqlPoolConnection;
    connections.set(driver, { connection, since });
    return connection;
  };
  const driversConnection = (isLate: () => boolean) =>
    new Promise<DriversConnection>((resolve, reject) => {
      waiting.add(reject);
      pool.getConnection((error, connection) => {
        const isWaiting = waiting.delete(reject) && !isLate();
        if (error) reject(error);
        else if (isWaiting) resolve(connection);
        else connection.release();
      });
    });
  return {
    async connect(isLate) {
      for (;;) {
        const driver = await driversConnection(isLate);
        const known = connections.get(driver);
        if (known === undefined) return prepare(driver);
        if (known.since === stay) return known.connection;
        driver.destroy();
      }
    },
    leave(error) {
      stay = {};
      for (const reject of waiting) reject(error);
      waiting.clear();
      for (let idle = pool._freeConnections.length; idle > 0; idle -= 1)
        pool.getConnection((_, connection) => connection?.destroy());
    },
    isNode: () => isNode,
  };
};

/** After a fail-over, an address leads to the new primary, but this connection to the old one. */
const limitedQuery = (driver: DriversConnection, limit: number, onFailure: (error: unknown) => void) =>
  ((sql: string, values: readonly unknown[], callback: Callback) => {
    const timer = setTimeout(() => {
      driver.destroy();
      const error = new LoggableError('the connection was closed, since a statement took too long');
      onFailure(error);
      callback(error);
    }, limit);
    driver.query(sql, values, (error, result) => {
      clearTimeout(timer);
      const isUnfit = UNFIT.includes(field(error, 'errno'));
      if (isUnfit) driver.destroy();
      if (isUnfit || field(error, 'fatal') === true) onFailure(error);
      callback(error, result);
    });
  }) as MysqlPoolConnection['query'];
