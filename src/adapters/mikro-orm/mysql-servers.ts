import { setTimeout as pause } from 'node:timers/promises';
import type { MysqlPool, MysqlPoolConnection } from 'kysely';
import { withTimeout } from '../limits/time-limits.ts';
import { LoggableError } from '../log/redact-error.ts';
import { type Callback, type DriversPool, type PreparedServer, preparedServer } from './mysql-pool.ts';
import type { PoolState } from './options.ts';

/** The time between two attempts to return to a preferred server. */
const RETURN_MS = 5_000;

/**
 * A pool over several servers. It uses one until that fails, then the next one, and returns to a preferred one by itself.
 * @param pools one of the driver for each server, the preferred one first.
 * @param session statements that each connection begins with.
 * @param limits milliseconds for a statement, and for getting a connection, for which the driver itself has no limit.
 */
export const poolOfServers = (
  pools: readonly DriversPool[],
  session: readonly string[],
  limits: { readonly statement: number; readonly connection: number },
): MysqlPool & { readonly state: () => PoolState; readonly isCluster: () => boolean } => {
  let [current, isReturning, isEnded] = [0, false, false];
  const servers: readonly PreparedServer[] = pools.map((pool, at) =>
    preparedServer(pool, session, limits.statement, pools.length > 1, (error) => leave(at, error)),
  );
  const use = (next: number, error: unknown): void => {
    servers[current]?.leave(error);
    current = next;
  };
  const leave = (failed: number, error: unknown): void => {
    if (servers.length === 1 || failed !== current || isEnded) return;
    use((current + 1) % servers.length, error);
    if (!isReturning) void goBack();
  };
  const goBack = async (): Promise<void> => {
    isReturning = true;
    while (current > 0 && !isEnded) {
      await pause(RETURN_MS, undefined, { ref: false });
      for (const [at, server] of servers.entries()) {
        if (at >= current || isEnded) break;
        const connection = await server.connect(() => isEnded).catch(() => null);
        connection?.release();
        if (connection !== null && at < current) use(at, new LoggableError('the connection is to another server'));
      }
    }
    isReturning = false;
  };
  const connect = async (isLate: () => boolean): Promise<MysqlPoolConnection> => {
    for (let tries = 1; ; tries += 1) {
      const at = current;
      try {
        const connection = await (servers[at] as PreparedServer).connect(isLate);
        if (isLate()) connection.release();
        return connection;
      } catch (error) {
        leave(at, error);
        if (isLate() || tries >= servers.length) throw error;
      }
    }
  };
  const take = (): Promise<MysqlPoolConnection> => {
    let isLate = false;
    const connection = connect(() => isLate);
    return withTimeout(limits.connection, connection, () => {
      isLate = true;
      return new LoggableError('no connection of the pool became free in time');
    });
  };
  const sum = (count: (pool: DriversPool) => number) => pools.reduce((total, pool) => total + count(pool), 0);
  return {
    getConnection: (callback) => void take().then((connection) => callback(null, connection), callback as Callback),
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
