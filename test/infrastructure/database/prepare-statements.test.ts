import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { mikroOrmUserRepository } from '../../../src/adapters/user-repository/mikro-orm.ts';
import { openDatabase } from '../../../src/infrastructure/database/database.ts';
import { aUser } from '../../support/builders.ts';
import { canStartPgbouncer } from '../../support/servers/of-the-tests.ts';
import { createDatabase, onPostgresql, TEST_DATABASE_URL } from '../../support/storage/databases.ts';
import { behindPgbouncer } from '../../support/storage/routes.ts';

const PREPARED = `select count(*)::int as count from pg_prepared_statements where name like 'tandem%' and statement like '%users%'`;

/** Over one connection. */
const openSingle = async (url: string) => {
  const database = await openDatabase({ ...onPostgresql(url), poolSize: 1 }, { migrate: true });
  onTestFinished(() => database.close());
  return database;
};

describe.runIf(TEST_DATABASE_URL !== undefined)('on a direct connection to PostgreSQL', () => {
  let url: string;
  beforeEach(async () => {
    const created = await createDatabase(TEST_DATABASE_URL ?? '');
    url = created.url;
    return created.drop;
  });

  it('a statement of a repository is prepared once, however often it is executed', async () => {
    const { em } = await openSingle(url);
    const users = mikroOrmUserRepository(em);
    expect(await em.execute(PREPARED)).toEqual([{ count: 0 }]);
    for (let count = 0; count < 10; count += 1) await users.findByEmail(`${count}@example.org`);
    expect(await em.execute(PREPARED)).toEqual([{ count: 1 }]);
  });

  it('a column that is added changes nothing', async () => {
    const { em } = await openSingle(url);
    const users = mikroOrmUserRepository(em);
    const user = aUser();
    await users.add(user);
    expect(await users.findById(user.id)).toStrictEqual(user);
    await em.execute('alter table users add column another text');
    expect(await users.findById(user.id)).toStrictEqual(user);
  });

  it('a statement that became invalid fails once, and is prepared anew on another connection', async () => {
    const { em } = await openSingle(url);
    const users = mikroOrmUserRepository(em);
    const user = aUser();
    await users.add(user);
    await users.findById(user.id);
    await em.execute('alter table users alter column username type varchar(64)');
    await expect(users.findById(user.id)).rejects.toMatchObject({ code: 'DB_QUERY_FAILED' });
    expect(await users.findById(user.id)).toStrictEqual(user);
  });
});

describe.runIf(canStartPgbouncer())('behind PgBouncer in transaction mode', () => {
  it('no statement has a name', async () => {
    const { direct, url } = await behindPgbouncer({ default_pool_size: '1' });
    const { em } = await openSingle(url);
    await mikroOrmUserRepository(em).findByEmail('ada@example.org');
    expect(await em.execute(PREPARED)).toEqual([{ count: 0 }]);
    expect(direct).not.toBe(url);
  });
});

describe('a server that accepts a connection and is silent from then on', () => {
  /** AuthenticationOk, BackendKeyData and ReadyForQuery of PostgreSQL's protocol. */
  const GREETING = Buffer.from('520000000800000000' + '4b0000000c0000000100000001' + '5a0000000549', 'hex');

  it('is reported after the time that a statement may take', async () => {
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      sockets.add(socket.on('error', () => undefined));
      socket.once('data', () => socket.write(GREETING));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    const url = `postgresql://tandem@127.0.0.1:${(server.address() as AddressInfo).port}/tandem`;
    const open = openDatabase({ ...onPostgresql(url), statementTimeout: 200 }, { migrate: false });
    await expect(open).rejects.toThrow('The database of DATABASE_URL cannot be opened');
  });
});
