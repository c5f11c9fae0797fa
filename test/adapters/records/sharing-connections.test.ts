import { createServer } from 'node:net';
import { CompiledQuery } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
import { postgresqlKind } from '../../../src/adapters/mikro-orm/postgresql.ts';
import type { Sql } from '../../../src/adapters/mikro-orm/statements.ts';
import { builtStatements } from '../../../src/adapters/mikro-orm/statements.ts';
import { listenOnLoopback } from '../../support/listen.ts';
import { openHeldLine } from '../../support/servers/held-line.ts';
import { openPostgresLine } from '../../support/servers/postgres-line.ts';
import { createDatabase, onPostgresql, TEST_DATABASE_URL } from '../../support/storage/databases.ts';
import { holdConnection } from '../../support/storage/hold-connection.ts';

const WAITING = `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
const findThing = (db: Sql, name: unknown) => db.selectFrom('things').select('name').where('name', '=', name);

describe.runIf(TEST_DATABASE_URL !== undefined)('statements that are transactions by themselves, on PostgreSQL', () => {
  type Limits = { readonly poolSize: number; readonly connectionTimeout?: number; readonly statementTimeout?: number };
  type Line = { readonly url: string; readonly close: () => void };
  const open = async <Its extends Line>(limits: Limits, openLine: (url: string) => Promise<Its>) => {
    const { url } = await createDatabase(TEST_DATABASE_URL ?? '');
    const line = await openLine(url);
    const { db, execute, connections } = await postgresqlKind({ ...onPostgresql(line.url), ...limits }).connect();
    onTestFinished(async () => {
      await db.destroy();
      line.close();
    });
    const ask = async (text: string) => (await execute(CompiledQuery.raw(text), true)).rows;
    const hold = () => holdConnection(db);
    return { url, db, execute, line, ask, hold, connections };
  };

  /** The same over one connection, which is in use until `release`. */
  const openHeld = async (limits: Omit<Limits, 'poolSize'> = {}) => {
    const opened = await open({ poolSize: 1, ...limits }, openPostgresLine);
    await opened.ask('select');
    opened.line.take();
    return { ...opened, release: await opened.hold() };
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
    const { ask, line } = await open({ poolSize: 2 }, openPostgresLine);
    await Promise.all([ask('select'), ask('select')]);
    line.take();
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
    const { ask, connections, release } = await openHeld({ connectionTimeout: 3_000 });
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

  it('wait for no connection that is still being opened, if another one becomes free', async () => {
    const silent = await listenOnLoopback(createServer());
    const { ask, line, hold } = await open({ poolSize: 2, connectionTimeout: 2_000 }, openHeldLine);
    await ask('select');
    const release = await hold();
    line.leadTo(silent.url);
    const answers = Promise.allSettled([1, 2, 3, 4].map((each) => ask(`select ${each}`)));
    await release();
    const statuses = (await answers).map(({ status }) => status);
    expect(statuses).toEqual(['rejected', 'fulfilled', 'fulfilled', 'fulfilled']);
  });

  it('may each take as long as one alone', async () => {
    const { ask, release } = await openHeld({ statementTimeout: 3_000 });
    const answers = [1, 2].map((each) => ask(`select ${each} as it from pg_sleep(1.6)`));
    await release();
    expect((await Promise.all(answers)).flat()).toEqual([{ it: 1 }, { it: 2 }]);
  });

  it('are executed although the one before them fails, which would have prepared them', async () => {
    const { url, db, execute, hold } = await open({ poolSize: 1 }, openPostgresLine);
    const { db: others } = await postgresqlKind(onPostgresql(url)).connect();
    onTestFinished(() => others.destroy());
    const send = async (text: string) => (await others.executeQuery<{ pid: number }>(CompiledQuery.raw(text))).rows;
    await send('create table things (name text)');
    const sendBuilt = builtStatements('postgresql');
    const find = () =>
      sendBuilt({ db, execute }, { shape: 'find', values: ['a'], build: (kysely, [name]) => findThing(kysely, name) });
    const release = await hold();
    const answers = Promise.allSettled([find(), find(), find()]);
    await others.transaction().execute(async (transaction) => {
      await transaction.executeQuery(CompiledQuery.raw('lock table things'));
      await release();
      await expect.poll(() => send(WAITING)).toHaveLength(1);
      const [waiting] = await send(WAITING);
      await send(`select pg_cancel_backend(${waiting?.pid})`);
      await expect.poll(async () => (await send(WAITING))[0]?.pid).toBe(waiting?.pid);
    });
    expect(await answers).toMatchObject([
      { reason: { code: '57014' } },
      { value: { rows: [] } },
      { value: { rows: [] } },
    ]);
  });
});
