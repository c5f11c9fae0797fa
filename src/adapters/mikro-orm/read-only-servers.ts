import { field } from './failures.ts';
import { discardWhenReleased } from './limit-queries.ts';

/** The parts of the driver's pool and clients that are used here. */
export type WatchedPool = {
  on(event: 'connect' | 'acquire' | 'remove', listener: (client: Client) => void): unknown;
  on(event: 'release', listener: (error: unknown, client: Client) => void): unknown;
};
type Client = {
  emit(event: 'error', error: Error): unknown;
  query: (...given: readonly unknown[]) => unknown;
  release: (error?: Error) => void;
};

/** read_only_sql_transaction */
const READ_ONLY = '25006';

const REASON = 'the server is read-only';

/** Milliseconds in which the connections are closed once: where every server is read-only, new ones would not help. */
const PAUSE = 1_000;

/**
 * Closes the connections of a pool as soon as the server of one refuses to write: after a fail-over, an address leads to the new primary,
 * but connections that are open lead to the old one. Those in use are closed when they are returned.
 */
export const leaveReadOnlyServers = (pool: WatchedPool): void => {
  const idle = new Set<Client>();
  const used = new Set<Client>();
  let closedAt = Number.NEGATIVE_INFINITY;
  const closeAll = (): void => {
    if (performance.now() - closedAt < PAUSE) return;
    closedAt = performance.now();
    for (const client of used) discardWhenReleased(client, REASON);
    // The pool closes an idle client that reports an error.
    for (const client of [...idle]) client.emit('error', new Error(REASON));
  };
  pool.on('connect', (client) => {
    const query = client.query.bind(client);
    client.query = (...given) => {
      const answer = query(...given);
      if (answer instanceof Promise) answer.catch((error) => field(error, 'code') === READ_ONLY && closeAll());
      return answer;
    };
  });
  pool.on('acquire', (client) => {
    idle.delete(client);
    used.add(client);
  });
  pool.on('release', (error, client) => {
    used.delete(client);
    if (!error) idle.add(client);
  });
  pool.on('remove', (client) => void idle.delete(client));
};
