import { setTimeout as pause } from 'node:timers/promises';
import type { MysqlPool, MysqlPoolConnection } from 'kysely';
import { withTimeout } from '../limits/time-limits.ts';
import { LoggableError } from '../log/redact-error.ts';
import { memberOf, NODE_NOT_READY } from './dialects.ts';
import type { PoolState } from './options.ts';

/** The pool of mysql2. The members that begin with `_` are private (ADR 0034). */
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
  /** Closes the connection, and removes it from the pool. */
  destroy(): void;
};
type Callback = (error: unknown, result?: unknown) => void;

/**
 * Errors after which a connection is closed, and another server is used if there is one. Of a read-only server: ER_OPTION_PREVENTS_STATEMENT,
 * ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION, ER_READ_ONLY_MODE. Of a node without its cluster: `NODE_NOT_READY`, ER_ERROR_DURING_COMMIT.
 */
const SERVER_FAILURES: readonly unknown[] = [1290, 1792, 1836, NODE_NOT_READY, 1180];

/** Milliseconds between the limit of a statement, at which MariaDB ends it (`max_statement_time`), and the close of its connection. */
const REPORT_TIME_MS = 500;
/** Lists `wsrep_on` for a node of a Galera cluster, and `read_only` for a server that refuses writes. */
const STATE_QUERY = `show global variables where variable_name in ('wsrep_on', 'read_only') and value = 'ON'`;
/** Makes a read, or the `begin` before it, wait until the node has applied earlier commits of other nodes. `select` fails on a node without its cluster. */
const NODE_STATEMENTS = ['set session wsrep_sync_wait = 1', 'select 1'];

/**
 * The pool of one server, which prepares each connection before its first use.
 * @param session the first statements of each connection. If one of them fails, the connection is closed.
 * @param limit milliseconds for a statement. `REPORT_TIME_MS` later, the connection is closed, since the server may hang.
 * @param hasOthers whether there are other servers. Then all have to be nodes of one cluster: a server outside of it would lack the latest writes.
 * @param onFailure called after a failure that is a reason to leave the server, on a connection that was opened after the last `closeAll`
 */
const preparedServer = (
  pool: DriversPool,
  session: readonly string[],
  limit: number,
  hasOthers: boolean,
  onFailure: (error: unknown) => void,
) => {
  /** The number of calls of `closeAll`. A connection that was opened before the last of them is closed instead of used again. */
  let period = 0;
  let isNode = false;
  const connections = new WeakMap<DriversConnection, { connection: MysqlPoolConnection; openedIn: number }>();
  const waiting = new Set<(error: unknown) => void>();

  const prepare = async (pooled: DriversConnection): Promise<MysqlPoolConnection> => {
    const openedIn = period;
    const query = limitedQuery(pooled, limit + REPORT_TIME_MS, (error) => {
      if (period === openedIn) onFailure(error);
    });
    const send = (statement: string) =>
      new Promise<readonly unknown[]>((resolve, reject) =>
        query(statement, [], (error, result) => (error ? reject(error) : resolve(result as readonly unknown[]))),
      );
    try {
      for (const statement of session) await send(statement);
      const enabled = (await send(STATE_QUERY)).map((row) => memberOf(row, 'Variable_name'));
      isNode = enabled.includes('wsrep_on');
      if (hasOthers && !isNode) throw new LoggableError('one of several servers is no node of a Galera cluster');
      if (hasOthers && enabled.includes('read_only')) throw new LoggableError('the node is read-only');
      if (isNode) for (const statement of NODE_STATEMENTS) await send(statement);
    } catch (error) {
      pooled.destroy();
      throw memberOf(error, 'errno') === NODE_NOT_READY
        ? new LoggableError('the node is not connected to its cluster')
        : error;
    }
    const release = () => (period === openedIn ? pooled.release() : pooled.destroy());
    // Kysely uses the other methods of a connection only to abort statements.
    const connection = { query, release } as MysqlPoolConnection;
    connections.set(pooled, { connection, openedIn });
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
    /** Gets a connection. The wait for a free one has no time limit. @param isLate returns whether the caller has given up */
    async connect(isLate: () => boolean) {
      for (;;) {
        const pooled = await driversConnection(isLate);
        const entry = connections.get(pooled);
        if (entry === undefined) return prepare(pooled);
        if (entry.openedIn === period) return entry.connection;
        pooled.destroy();
      }
    },
    /** Closes idle connections at once, and those in use when they are released. Rejects the callers that wait for a connection. */
    closeAll(error: unknown) {
      period += 1;
      for (const reject of waiting) reject(error);
      waiting.clear();
      for (let idle = pool._freeConnections.length; idle > 0; idle -= 1)
        pool.getConnection((_, connection) => connection?.destroy());
    },
    isNode: () => isNode,
  };
};

/** Sends a query. Closes the connection if the query takes longer than `limit`, or fails with one of `SERVER_FAILURES`. */
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
      const isUnfit = SERVER_FAILURES.includes(memberOf(error, 'errno'));
      if (isUnfit) driver.destroy();
      if (isUnfit || memberOf(error, 'fatal') === true) onFailure(error);
      callback(error, result);
    });
  }) as MysqlPoolConnection['query'];

const RETURN_INTERVAL_MS = 5_000;

/**
 * A pool over one or several servers. It uses one until it fails, then the next one, and goes back to an earlier one when that is available again.
 * @param pools a pool of the driver for each server, in the order of preference
 * @param session the first statements of each connection
 * @param limits milliseconds for a statement, and for getting a connection
 * @param onFailOver called when another server than before has given a connection, with its index in `pools`, and why the former server was left
 */
export const poolOfServers = (
  pools: readonly DriversPool[],
  session: readonly string[],
  limits: { readonly statement: number; readonly connection: number },
  onFailOver?: (at: number, error: unknown) => void,
): MysqlPool & { readonly state: () => PoolState; readonly isCluster: () => boolean } => {
  let [current, lastUsed, isReturning, isEnded] = [0, 0, false, false];
  let failure: unknown;
  const servers = pools.map((pool, at) =>
    preparedServer(pool, session, limits.statement, pools.length > 1, (error) => failOver(at, error)),
  );
  const switchTo = (next: number, error: unknown): void => {
    servers[current]?.closeAll(error);
    [current, failure] = [next, error];
  };
  const failOver = (failed: number, error: unknown): void => {
    if (servers.length === 1 || failed !== current || isEnded) return;
    switchTo((current + 1) % servers.length, error);
    if (!isReturning) void returnToPreferred();
  };
  const returnToPreferred = async (): Promise<void> => {
    isReturning = true;
    while (current > 0 && !isEnded) {
      await pause(RETURN_INTERVAL_MS, undefined, { ref: false });
      for (const [at, server] of servers.entries()) {
        if (at >= current || isEnded) break;
        const connection = await server.connect(() => isEnded).catch(() => null);
        connection?.release();
        if (connection !== null && at < current) switchTo(at, new LoggableError('the connection is to another server'));
      }
    }
    isReturning = false;
  };
  const connect = async (isLate: () => boolean): Promise<MysqlPoolConnection> => {
    for (let tries = 1; ; tries += 1) {
      const at = current;
      try {
        const connection = await (servers[at] as ReturnType<typeof preparedServer>).connect(isLate);
        if (at === current && at !== lastUsed) onFailOver?.(at, failure);
        if (at === current) lastUsed = at;
        if (isLate()) connection.release();
        return connection;
      } catch (error) {
        failOver(at, error);
        if (isLate() || tries >= servers.length) throw error;
      }
    }
  };
  const connectInTime = (): Promise<MysqlPoolConnection> => {
    let isLate = false;
    const connection = connect(() => isLate);
    return withTimeout(limits.connection, connection, () => {
      isLate = true;
      return new LoggableError('no connection of the pool became free in time');
    });
  };
  const sum = (count: (pool: DriversPool) => number) => pools.reduce((total, pool) => total + count(pool), 0);
  return {
    getConnection: (callback) =>
      void connectInTime().then((connection) => callback(null, connection), callback as Callback),
    end(callback) {
      isEnded = true;
      const ended = pools.map((pool) => new Promise<unknown>((resolve) => pool.end(resolve)));
      void Promise.all(ended).then((errors) => callback(errors[current]));
    },
    state: () => ({
      used: sum((pool) => pool._allConnections.length - pool._freeConnections.length),
      idle: sum((pool) => pool._freeConnections.length),
      waiting: sum((pool) => pool._connectionQueue.length),
    }),
    isCluster: () => servers.some(({ isNode }) => isNode()),
  };
};
