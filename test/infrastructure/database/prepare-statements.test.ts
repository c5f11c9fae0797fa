import { createServer } from 'node:net';
import { beforeEach, describe, expect, it } from 'vitest';
import { storageOver } from '../../../src/adapters/records/storage.ts';
import { anId, aRotation, aSession, aUser } from '../../support/builders.ts';
import { listenOnLoopback } from '../../support/listen.ts';
import { canStartPgbouncer } from '../../support/servers/of-the-tests.ts';
import { createDatabase, onPostgresql, TEST_DATABASE_URL } from '../../support/storage/databases.ts';
import { openDatabase } from '../../support/storage/open-database.ts';
import { behindPgbouncer } from '../../support/storage/routes.ts';

const PREPARED = `select count(*)::int as count from pg_prepared_statements where name like 'tandem%' and statement like '%users%'`;
const PROCESS = 'select pg_backend_pid()';

/** Over one connection. */
const openSingle = async (url: string) => {
  const database = await openDatabase({ ...onPostgresql(url), poolSize: 1 }, { migrate: true });
  const { users, sessions, transactions } = storageOver(database.records);
  return { em: database.em, users, transactions, sessions: database.withFasterMethods(sessions) };
};

/** Stores a user. @returns reads the user, with a prepared statement. */
const storedUser = async ({ users }: Awaited<ReturnType<typeof openSingle>>) => {
  const user = aUser();
  await users.add(user);
  return () => users.findById(user.id);
};

describe.runIf(TEST_DATABASE_URL !== undefined)('on a direct connection to PostgreSQL', () => {
  let url: string;
  beforeEach(async () => {
    const created = await createDatabase(TEST_DATABASE_URL ?? '');
    url = created.url;
    return created.drop;
  });

  it('a statement of a repository is prepared once, however often it is executed', async () => {
    const { em, sessions } = await openSingle(url);
    expect(await em.execute(PREPARED)).toEqual([{ count: 0 }]);
    for (let count = 0; count < 10; count += 1) await sessions.findWithUser(aSession());
    expect(await em.execute(PREPARED)).toEqual([{ count: 1 }]);
  });

  it('a column that is added changes nothing', async () => {
    const single = await openSingle(url);
    const { em } = single;
    const find = await storedUser(single);
    const user = await find();
    await em.execute('alter table users add column another text');
    expect(await find()).toStrictEqual(user);
  });

  it('a statement that was planned while its tables were known to be empty uses an index', async () => {
    const { em, sessions } = await openSingle(url);
    await em.execute('set plan_cache_mode = force_generic_plan');
    for (const table of ['users', 'sessions']) {
      await em.execute(`alter table ${table} set (autovacuum_enabled = false)`);
      await em.execute(`vacuum analyze ${table}`);
    }
    await sessions.rotate(aRotation(aSession()));
    await sessions.findWithUser(aSession());
    const prepared = await em.execute<{ name: string; count: number }[]>(
      `select name, cardinality(parameter_types) as count from pg_prepared_statements
       where name like 'tandem%' and statement like '%sessions%'`,
    );
    // The fourth reads all open ends of all sessions, of which there is seldom one.
    expect(prepared).toHaveLength(3);
    for (const { name, count } of prepared) {
      const plan = JSON.stringify(await em.execute(`explain execute ${name}(${Array(count).fill('null')})`));
      expect(plan).toContain('Index Scan');
      // That table has seldom a row.
      expect(plan.replaceAll('Seq Scan on mass_endings', '')).not.toContain('Seq Scan');
    }
  });

  const OUTDATING = {
    'a column has another type since':
      'alter table sessions alter column amr type varchar(64); alter table users alter column username type varchar(64)',
    'somebody deallocated it': 'deallocate all',
  };
  it.each(Object.entries(OUTDATING))('a statement is executed although %s', async (_why, outdate) => {
    const single = await openSingle(url);
    const { em } = single;
    const find = await storedUser(single);
    const user = await find();
    const before = await em.execute(PROCESS);
    await em.execute(outdate);
    expect(await find()).toStrictEqual(user);
    // On another connection, since the others of the closed one may be outdated too.
    expect(await em.execute(PROCESS)).not.toEqual(before);
    expect(await find()).toStrictEqual(user);
    expect(await em.execute(PREPARED)).toEqual([{ count: 1 }]);
  });

  it.each(Object.entries(OUTDATING))('a transaction is carried out although %s', async (_why, outdate) => {
    const { em, users, sessions, transactions } = await openSingle(url);
    const user = aUser();
    await users.add(user);
    const store = async () => {
      const session = aSession({ userId: user.id });
      await transactions.run((stores) => stores.sessions.add(session));
      return (await sessions.find(session))?.id === session.id;
    };
    expect(await store()).toBe(true);
    await em.execute(outdate);
    expect(await store()).toBe(true);
    // In the same second.
    await em.execute(outdate.replace('(64)', '(65)'));
    expect(await store()).toBe(true);
  });

  it('a session is rotated once although its statements were deallocated', async () => {
    const { em, users, sessions } = await openSingle(url);
    const user = aUser();
    await users.add(user);
    const session = aSession({ userId: user.id });
    await sessions.add(session);
    const rotation = aRotation(session);
    await sessions.rotate({ ...rotation, expected: anId() });
    await em.execute('deallocate all');
    expect(await sessions.rotate(rotation)).toHaveProperty('user');
    expect(await sessions.rotate(rotation)).toBe('stale');
  });
});

it.runIf(canStartPgbouncer())('behind PgBouncer in transaction mode no statement has a name', async () => {
  const { direct, url } = await behindPgbouncer({ default_pool_size: '1' });
  const { em, sessions } = await openSingle(url);
  await sessions.findWithUser(aSession());
  expect(await em.execute(PREPARED)).toEqual([{ count: 0 }]);
  expect(direct).not.toBe(url);
});

describe('a server that accepts a connection and is silent from then on', () => {
  /** AuthenticationOk, BackendKeyData and ReadyForQuery of PostgreSQL's protocol. */
  const GREETING = Buffer.from('520000000800000000' + '4b0000000c0000000100000001' + '5a0000000549', 'hex');

  it('is reported after the time that a statement may take', async () => {
    const server = createServer((socket) => {
      socket.on('error', () => undefined).once('data', () => socket.write(GREETING));
    });
    const url = `postgresql://tandem@127.0.0.1:${(await listenOnLoopback(server)).port}/tandem`;
    const open = openDatabase({ ...onPostgresql(url), statementTimeout: 200 }, { migrate: false });
    await expect(open).rejects.toThrow('The database of DATABASE_URL cannot be opened');
  });
});
