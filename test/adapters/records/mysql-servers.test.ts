import { expect, it } from 'vitest';
import { type DriversPool, poolOfServers } from '../../../src/adapters/mikro-orm/mysql-servers.ts';

type Callback = Parameters<DriversPool['getConnection']>[0];
type Connection = Parameters<Callback>[1];

/** The driver's pool of one node, whose callers wait until the test answers them. */
const aPool = (query: Connection['query']) => {
  const callers: Callback[] = [];
  const connection: Connection = { query, release: () => undefined, destroy: () => undefined };
  const pool: DriversPool = {
    getConnection: (callback) => void callers.push(callback),
    end: (callback) => callback(null),
    ...{ _allConnections: [], _freeConnections: [], _connectionQueue: [] },
  };
  return { pool, callers, give: () => callers.shift()?.(null, connection) };
};
const IS_NODE = [{ Variable_name: 'wsrep_on' }];

it('a server is not reported again for a connection that was still being made when it was left', async () => {
  const unanswered: (() => void)[] = [];
  const first = aPool((_sql, _values, callback) => unanswered.push(() => callback(null, IS_NODE)));
  const second = aPool((_sql, _values, callback) => callback(null, IS_NODE));
  const reported: number[] = [];
  const servers = poolOfServers([first.pool, second.pool], [], { statement: 60_000, connection: 60_000 }, (at) =>
    reported.push(at),
  );
  const connect = () => new Promise((resolve) => servers.getConnection((_error, connection) => resolve(connection)));
  const late = connect();
  first.give();
  await expect.poll(() => unanswered.length).toBe(1);
  const next = connect();
  first.callers.shift()?.(new Error('refused'), undefined as never);
  await expect.poll(() => second.callers.length).toBe(1);
  second.give();
  await next;
  while (unanswered.length > 0) {
    unanswered.shift()?.();
    await new Promise(setImmediate);
  }
  await late;
  expect(reported).toEqual([1]);
  servers.end(() => undefined);
});
