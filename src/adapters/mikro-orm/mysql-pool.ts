import { setTimeout as pause } from 'node:timers/promises';
import type { MysqlPool, MysqlPoolConnection } from 'kysely';
import { withTimeout } from '../limits/response-timeout.ts';
import { LoggableError } from '../log/redact-error.ts';
import { NOT_READY } from './dialects.ts';
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

/**
 * Error numbers of a server that is read-only: ER_OPTION_PREVENTS_STATEMENT, ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION, ER_READ_ONLY_MODE, or that a
 * cluster is without: NOT_READY, ER_ERROR_DURING_COMMIT.
 */
const UNFIT: readonly unknown[] = [1290, 1792, 1836, NOT_READY, 1180];

/** In which the server has to end a statement by itself, before its connection is closed. */
const REPORT_TIME_MS = 500;
/** Between two attempts to connect to the servers that come before the one in use. */
const RETURN_MS = 5_000;

/** A server, and who waits for a connection to it. `stay` is another object after it was left: connections of the former one are closed. */
type Server = { readonly pool: DriversPool; readonly waiting: Set<(error: unknown) => void>; stay: object };

/** Whether the server is a node of a Galera cluster. */
const IS_NODE = `show global variables where variable_name = 'wsrep_on' and value = 'ON'`;
/** Each read waits for what was committed at other nodes before. The last one fails at a node that is not ready, and waits at one that is behind. */
const AS_NODE = ['set session wsrep_sync_wait = 1', 'select 1'];

/**
 * A pool over the driver's, which prepares each connection before anything else is sent by it. Of several servers it uses one, until that fails.
 * @param pools of each server, the preferred one first.
 * @param session statements. If one is refused, the connection is closed, and what was asked on it fails for that reason.
 * @param limits milliseconds. If a statement takes longer, the connection is closed: a server that hangs would not respond to the next one
 *   either. The driver itself would wait for a free connection without an end.
 */
export const preparingPool = (
  pools: readonly DriversPool[],
  session: readonly string[],
  limits: { readonly statement: number; readonly connection: number },
): MysqlPool & { readonly state: () => PoolState; readonly isCluster: () => boolean } => {
  const connections = new WeakMap<DriversConnection, { readonly connection: MysqlPoolConnection; stay: object }>();
  const servers = pools.map((pool): Server => ({ pool, waiting: new Set(), stay: {} }));
  let [current, isCluster, isReturning, isEnded] = [0, false, false, false];

  const use = (next: number, error: unknown): void => {
    const former = servers[current] as Server;
    former.stay = {};
    for (const reject of former.waiting) reject(error);
    former.waiting.clear();
    for (let idle = former.pool._freeConnections.length; idle > 0; idle -= 1)
      former.pool.getConnection((_, connection) => connection?.destroy());
    current = next;
  };
  const leave = (server: Server, error: unknown): void => {
    if (servers.length === 1 || servers[current] !== server || isEnded) return;
    use((current + 1) % servers.length, error);
    if (!isReturning) void goBack();
  };
  const goBack = async (): Promise<void> => {
    isReturning = true;
    while (current > 0 && !isEnded) {
      await pause(RETURN_MS, undefined, { ref: false });
      for (const [at, server] of servers.entries()) {
        if (at >= current || isEnded) break;
        const connection = await connectionTo(server, () => isEnded).catch(() => null);
        connection?.release();
        if (connection !== null && at < current) use(at, new LoggableError('the connection is to another server'));
      }
    }
    isReturning = false;
  };
  const prepare = async (driver: DriversConnection, server: Server): Promise<MysqlPoolConnection> => {
    const { stay } = server;
    const query = limitedQuery(driver, limits.statement + REPORT_TIME_MS, (error) => leave(server, error));
    const send = (statement: string) =>
      new Promise<unknown>((resolve, reject) =>
        query(statement, [], (error, result) => (error ? reject(error) : resolve(result))),
      );
    try {
      for (const statement of session) await send(statement);
      const isNode = ((await send(IS_NODE)) as readonly unknown[]).length > 0;
      if (isNode) for (const statement of AS_NODE) await send(statement);
      isCluster ||= isNode;
    } catch (error) {
      driver.destroy();
      throw field(error, 'errno') === NOT_READY ? new LoggableError('the node is not connected to its cluster') : error;
    }
    const release = () => (server.stay === stay ? driver.release() : driver.destroy());
    // Of a connection, Kysely uses the rest to abort statements.
    const connection = { query, release } as MysqlPoolConnection;
    connections.set(driver, { connection, stay });
    return connection;
  };
  /** Waits without an end until the server has a free connection. */
  const driversConnection = (server: Server, isLate: () => boolean) =>
    new Promise<DriversConnection>((resolve, reject) => {
      server.waiting.add(reject);
      server.pool.getConnection((error, connection) => {
        const isWaiting = server.waiting.delete(reject) && !isLate();
        if (error) reject(error);
        else if (isWaiting) resolve(connection);
        else connection.release();
      });
    });
  const connectionTo = async (server: Server, isLate: () => boolean): Promise<MysqlPoolConnection> => {
    for (;;) {
      const driver = await driversConnection(server, isLate);
      const known = connections.get(driver);
      if (known === undefined) return prepare(driver, server);
      if (known.stay === server.stay) return known.connection;
      driver.destroy();
    }
  };
  const take = async (): Promise<MysqlPoolConnection> => {
    let isLate = false;
    const taken = async () => {
      for (let tries = 1; ; tries += 1) {
        const server = servers[current] as Server;
        try {
          const connection = await connectionTo(server, () => isLate);
          if (isLate) connection.release();
          return connection;
        } catch (error) {
          leave(server, error);
          if (isLate || tries >= servers.length) throw error;
        }
      }
    };
    const late = () => {
      isLate = true;
      return new LoggableError('no connection of the pool became free in time');
    };
    return withTimeout(limits.connection, taken(), late);
  };
  const sum = (count: (pool: DriversPool) => number) => pools.reduce((total, pool) => total + count(pool), 0);
  return {
    getConnection: (callback) => void take().then((connection) => callback(null, connection), callback as Callback),
    end(callback) {
      isEnded = true;
      const ended = pools.map((pool) => new Promise<unknown>((resolve) => pool.end(resolve)));
      void Promise.all(ended).then((errors) => callback(errors.find(Boolean)));
    },
    state: () => ({
      used: sum((pool) => pool._allConnections.length - pool._freeConnections.length),
      idle: sum((pool) => pool._freeConnections.length),
      waiting: sum((pool) => pool._connectionQueue.length),
    }),
    isCluster: () => isCluster,
  };
};

/** @param leave called when the server hangs, has broken the connection, or cannot write: after a fail-over, an address may lead to another one. */
const limitedQuery = (driver: DriversConnection, limit: number, leave: (error: unknown) => void) =>
  ((sql: string, values: readonly unknown[], callback: Callback) => {
    const timer = setTimeout(() => {
      driver.destroy();
      const error = new LoggableError('the connection was closed, since a statement took too long');
      leave(error);
      callback(error);
    }, limit);
    driver.query(sql, values, (error, result) => {
      clearTimeout(timer);
      const isUnfit = UNFIT.includes(field(error, 'errno'));
      if (isUnfit) driver.destroy();
      if (isUnfit || field(error, 'fatal') === true) leave(error);
      callback(error, result);
    });
  }) as MysqlPoolConnection['query'];
