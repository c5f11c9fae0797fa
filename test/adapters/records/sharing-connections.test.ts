import { CompiledQuery } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
import { postgresqlKind } from '../../../src/adapters/mikro-orm/postgresql.ts';
import { openPostgresLine } from '../../support/servers/postgres-line.ts';
import { createDatabase, onPostgresql, TEST_DATABASE_URL } from '../../support/storage/databases.ts';

describe.runIf(TEST_DATABASE_URL !== undefined)('statements that are transactions by themselves, on PostgreSQL', () => {
  const open = async (limits: { poolSize: number; connectionTimeout?: number }) => {
    const { url, drop } = await createDatabase(TEST_DATABASE_URL ?? '');
    const line = await openPostgresLine(url);
    const { db, execute, connections } = await postgresqlKind({ ...onPostgresql(line.url), ...limits }).connect();
    onTestFinished(async () => {
      await db.destroy();
      line.close();
      await drop();
    });
    const ask = async (text: string) => (await execute(CompiledQuery.raw(text), true)).rows;
    await Promise.all(Array.from({ length: limits.poolSize }, () => ask('select')));
    line.take();
    return { db, line, ask, connections };
  };

  /** The same over one connection, which is in use until `release`. */
  const openHeld = async (limits: { connectionTimeout?: number } = {}) => {
    const opened = await open({ poolSize: 1, ...limits });
    const [taken, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const holding = opened.db.connection().execute(() => {
      taken.resolve();
      return released.promise;
    });
    await taken.promise;
    const release = () => {
      released.resolve();
      return holding;
    };
    return { ...opened, release };
  };

  it('share the next connection, four at most, and each gets its answer', async () => {
    const { ask, connections, line, release } = await openHeld();
    const answers = [1, 2, 3, 4, 5, 6].map((each) => ask(`select ${each} as it`));
    expect(connections()).toEqual({ used: 1, idle: 0, waiting: 6 });
    await release();
    expect((await Promise.all(answers)).flat()).toEqual([1, 2, 3, 4, 5, 6].map((it) => ({ it })));
    expect(line.take().map((trip) => trip.length)).toEqual([4, 2]);
    expect(connections()).toEqual({ used: 0, idle: 1, waiting: 0 });
  });

  it('share none while others are free', async () => {
    const { ask, line } = await open({ poolSize: 2 });
    await Promise.all([ask('select 1'), ask('select 2')]);
    expect(line.take()).toEqual([['select 1'], ['select 2']]);
  });

  it('keep no transaction waiting that came before them, beyond the four', async () => {
    const { db, ask, release } = await openHeld();
    const order: string[] = [];
    const statement = (name: string) => ask('select').then(() => order.push(name));
    const first = [statement('1'), statement('2')];
    const transaction = db.connection().execute(async () => order.push('transaction'));
    const later = ['3', '4', '5', '6'].map(statement);
    await release();
    await Promise.all([...first, transaction, ...later]);
    expect(order).toEqual(['1', '2', '3', '4', 'transaction', '5', '6']);
  });

  it('fail each for itself', async () => {
    const { ask, release } = await openHeld();
    const answers = Promise.allSettled([ask('select 1 as it'), ask('select 1 / 0'), ask('select 3 as it')]);
    await release();
    expect(await answers).toMatchObject([
      { value: [{ it: 1 }] },
      { reason: { code: '22012' } },
      { value: [{ it: 3 }] },
    ]);
  });

  it('all fail if no connection becomes free in time, and those that follow get one', async () => {
    const { ask, connections, release } = await openHeld({ connectionTimeout: 50 });
    const answers = await Promise.allSettled(['1', '2', '3', '4', '5'].map(() => ask('select')));
    expect(answers.map(({ status }) => status)).toEqual(Array(5).fill('rejected'));
    expect(connections()?.waiting).toBe(0);
    await release();
    expect(await ask('select 1 as it')).toEqual([{ it: 1 }]);
  });

  it('all fail with the connection that they share, and those that follow get another', async () => {
    const { ask, connections, release } = await openHeld();
    const answers = Promise.allSettled([ask('select pg_terminate_backend(pg_backend_pid())'), ask('select 2')]);
    const following = ask('select 3 as it');
    await release();
    expect(await answers).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }]);
    await expect(following).rejects.toThrow();
    expect(await ask('select 4 as it')).toEqual([{ it: 4 }]);
    expect(connections()).toEqual({ used: 0, idle: 1, waiting: 0 });
  });
});
