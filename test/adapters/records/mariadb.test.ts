import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { errorTranslator, MARIADB, MYSQL } from '../../../src/adapters/mikro-orm/dialects.ts';
import { connectServers, mariadbKind } from '../../../src/adapters/mikro-orm/mysql.ts';
import { mikroOrmRecords } from '../../../src/adapters/mikro-orm/records.ts';
import { onDatabaseFailure } from '../../../src/adapters/records/storage.ts';
import { rejection } from '../../contracts/hooks.ts';
import { aUserRow } from '../../contracts/records/database.ts';
import { describeRecords } from '../../contracts/records.contract.ts';
import { anEvent, NOW } from '../../support/builders.ts';
import { failing, QUOTING } from '../../support/records/statements.ts';
import { canStartMariadb, startMariadb } from '../../support/servers/of-the-tests.ts';
import type { TestServer } from '../../support/servers/server.ts';
import { inTransaction, onMariadb } from '../../support/storage/databases.ts';
import { type Database, openDatabase, removeAllRows } from '../../support/storage/open-database.ts';

/** Defaults of a server under which the service would be wrong, if it left them as they are. */
const HOSTILE = { 'sql-mode': 'NO_BACKSLASH_ESCAPES', 'transaction-isolation': 'SERIALIZABLE', 'lc-messages': 'de_DE' };
const WAITING = `select trx_id from information_schema.innodb_trx where trx_state = 'LOCK WAIT'`;

describe.runIf(canStartMariadb())('on MariaDB', () => {
  let server: TestServer;
  let [database, other]: [Database, Database] | [] = [];
  const opened = (each = database): Database => each ?? expect.unreachable();
  const open = (name = 'tandem', prefix = '', limits = {}) =>
    openDatabase({ ...onMariadb(`${server.url}${name}`), tablePrefix: prefix, ...limits }, { migrate: true });
  beforeAll(async () => {
    server = await startMariadb(HOSTILE);
    const first = await open('mysql', 'first_');
    for (const name of ['tandem', 'shop']) await first.em.execute(`create database ${name} character set latin1`);
    await first.em.execute('create table shop.users (id integer) select 1 as id');
    await first.close();
    [database, other] = await Promise.all([open(), open()]);
  });

  const empty = () => removeAllRows(opened());
  const failingRecords = () => mikroOrmRecords(failing(opened().em.getKysely(), QUOTING.mariadb), MARIADB);
  // The server shows the same state for 0.1 s, and as long as it is asked more often.
  const untilOneWaits = () =>
    expect.poll(async () => (await opened(other).em.execute(WAITING)).length, { interval: 250 }).toBe(1);

  describeRecords('mikroOrmRecords', async () => {
    await empty();
    return {
      records: opened().records,
      another: async () => opened(other).records,
      failing: async () => failingRecords(),
      untilOneWaits,
    };
  });

  // Neither MySQL nor a cluster runs here: what the dialect of one leaves out, and how the nodes of the other lock.
  const OTHER = { ...MYSQL, rowLock: 'write' } as const;
  describeRecords('mikroOrmRecords that lock by a change without delete … returning', async () => {
    await empty();
    return {
      records: mikroOrmRecords(opened().em.getKysely(), OTHER),
      another: async () => mikroOrmRecords(opened(other).em.getKysely(), OTHER),
      failing: async () => failingRecords(),
      untilOneWaits,
    };
  });

  it('reads no more rows for a later page than it lists', async () => {
    await empty();
    const { em, records } = await open('tandem', '', { poolSize: 1 });
    await em.execute(`insert into operator_events (id, actor, at, event, version)
      select lpad(seq, 26, '0'), 'ada', seq, '{}', 1 from seq_1_to_20000`);
    await em.execute('analyze table operator_events');
    const rows = await records.list('operatorEvents', {
      ...{ equal: { actor: 'ada' }, range: ['id', '<', `${10_000}`.padStart(26, '0')], order: ['id'] },
      ...{ descending: true, limit: 20 },
    });
    const [read] = await em.execute(
      `select variable_value as count from information_schema.session_status where variable_name = 'handler_read_prev'`,
    );
    expect(rows[0]).toMatchObject({ at: 9_999 });
    expect(Number(read?.count)).toBeLessThanOrEqual(rows.length);
  });

  it('locks by a change of a row, in whatever order its key is named', async () => {
    await empty();
    const records = mikroOrmRecords(opened().em.getKysely(), OTHER);
    const [{ id: userId, ...user }, event] = [aUserRow(), anEvent()];
    await records.insert('users', { id: userId, ...user });
    await records.insert('events', { ...event, userId, device: null, countedBy: null });
    const { id } = event;
    const versions = [];
    for (const key of [
      { userId, id },
      { id, userId },
      { userId, id },
    ])
      versions.push((await records.unit((inside) => inside.lock('events', key)))?.version ?? 0);
    const [first = 0] = versions;
    expect(versions).toEqual([first, first + 1, first + 2]);
  });

  it('refuses several servers that are no nodes of Galera', async () => {
    const url = `${server.url}tandem`;
    const opening = openDatabase({ ...onMariadb(url), tablePrefix: '', others: [url] }, { migrate: false });
    await expect(opening).rejects.toThrow('no node of a Galera cluster');
  });

  it.each([
    [1020, 'conflict'],
    [1021, 'capacity'],
    [1040, 'capacity'],
    [1205, 'timeout'],
    [1213, 'conflict'],
    [1290, 'read-only'],
    [1969, 'timeout'],
  ])('its error %i is DB_QUERY_FAILED, and has a class', async (number, failure) => {
    const published: string[] = [];
    onTestFinished(onDatabaseFailure((each) => published.push(each)));
    const raise = () => opened().em.execute(`signal sqlstate 'HY000' set mysql_errno = ${number}, message_text = 'no'`);
    expect(await rejection(errorTranslator(MARIADB.failureOf)(raise))).toMatchObject({ code: 'DB_QUERY_FAILED' });
    expect(published).toEqual([failure]);
  });

  it('tells its time, its version, its pool, and whether it may be changed', async () => {
    const { examine, readTime, connections, ping } = opened();
    expect(await examine()).toMatchObject({
      version: expect.stringMatching(/^MariaDB \d+\.\d+/),
      mayCreate: true,
      schema: { pending: [], unknown: [] },
    });
    const before = Date.now();
    const now = (await readTime?.()) ?? Number.NaN;
    // The server runs on this machine, and may round.
    expect(now).toBeGreaterThan(before - 2);
    expect(now).toBeLessThan(Date.now() + 2);
    const reader = 'grant select, insert, update, delete on `tandem`.* to reader@`127.0.0.1`';
    for (const text of ["create user reader@`127.0.0.1` identified by 'word'", reader, 'set global read_only = 1'])
      await opened().em.execute(text);
    const url = new URL(`${server.url}tandem`);
    [url.username, url.password] = ['reader', 'word'];
    const reading = await openDatabase(onMariadb(url.href), { migrate: true });
    expect(await reading.examine()).toMatchObject({ mayCreate: false });
    expect(reading.connections()).toEqual({ used: 0, idle: 1, waiting: 0 });
    expect(await rejection(reading.ping())).toMatchObject({ code: 'DB_QUERY_FAILED' });
    await opened().em.execute('set global read_only = 0');
    await reading.ping();
    await ping();
    expect(connections()?.used).toBe(0);
  });

  it('is refused as a MySQL, with the form of its URL', async () => {
    const asMysql = openDatabase({ ...onMariadb(`${server.url}tandem`), kind: 'mysql' }, { migrate: false });
    expect(String(await rejection(asMysql))).toContain(
      'ER_UNKNOWN_COLLATION. The server is no MySQL, or one of an old version: the URL of a MariaDB begins with mariadb://',
    );
  });

  it('fails what is asked on a connection whose settings it refuses for the reason of that', async () => {
    const options = onMariadb(`${server.url}tandem`);
    const { orm } = await mariadbKind(options);
    // Of MySQL alone.
    const { db } = await connectServers([await orm()], ['set session max_execution_time = 1000'], options);
    onTestFinished(() => db.destroy());
    expect(await rejection(sql`select 1`.execute(db))).toMatchObject({ code: 'ER_UNKNOWN_SYSTEM_VARIABLE' });
  });

  it('finishes a start that was interrupted, and one that another process has begun', async () => {
    await opened().em.execute('create database begun');
    const first = await open('begun');
    await first.em.execute('set foreign_key_checks = 0');
    for (const text of ['drop table recovery_codes', 'drop table events', 'delete from tandem_migrations'])
      await first.em.execute(text);
    await first.close();
    const both = await Promise.all([open('begun'), open('begun')]);
    const user = aUserRow();
    await both[0].records.insert('users', user);
    await both[1].records.insert('recoveryCodes', { userId: user.id, hash: 'a hash' });
    expect((await both[0].examine()).schema.pending).toEqual([]);
  });

  it('stores a text as a whole, or rejects it', async () => {
    await empty();
    const { records } = opened();
    const texts = ['x'.repeat(1_364), '🔑'.repeat(375), "'; \\' or 1 -- \\"];
    for (const id of texts) {
      await records.insert('usedValues', { id, expiresAt: NOW });
      expect(await records.list('usedValues', { equal: { id } })).toMatchObject([{ id }]);
    }
    const error = await rejection(records.insert('usedValues', { id: 'x'.repeat(1_501), expiresAt: NOW }));
    expect(error).toMatchObject({ code: 'DB_QUERY_FAILED', reason: 'Error ER_DATA_TOO_LONG 1406' });
    expect(await records.list('usedValues', { order: ['id'] })).toHaveLength(texts.length);
  });

  it('fails a unit that waits too long for a lock, as a whole', async () => {
    await empty();
    const [user, value] = [aUserRow(), { id: 'a value', expiresAt: NOW }];
    await opened().records.insert('users', user);
    const impatient = await open('tandem', '', { statementTimeout: 1_000 });
    const [locked, tried] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const holding = opened(other).records.unit(async (inside) => {
      await inside.lock('users', { id: user.id });
      locked.resolve();
      await tried.promise;
    });
    await locked.promise;
    const waiting = impatient.records.unit(async (inside) => {
      await inside.insert('usedValues', value);
      await inside.lock('users', { id: user.id });
    });
    expect(await rejection(waiting)).toMatchObject({ code: 'DB_QUERY_FAILED' });
    tried.resolve();
    await holding;
    expect(await impatient.records.list('usedValues', { equal: { id: value.id } })).toEqual([]);
  });

  it('runs a unit again that was undone in a deadlock', async () => {
    await empty();
    const { records } = opened();
    const [first, second] = [aUserRow(), aUserRow()];
    for (const user of [first, second]) await records.insert('users', user);
    /** Has changed more than the unit, which is therefore the victim. */
    const interfere = async (locked: () => void) =>
      inTransaction(opened(other), async (send) => {
        for (let at = 0; at < 100; at += 1) await send('insert into used_values values (?, 0, 0)', [randomUUID()]);
        await send('select id from users where id = ? for update', [second.id]);
        locked();
        await send('update users set locale = ? where id = ?', ['de', first.id]);
      });
    const seen: unknown[] = [];
    let over: Promise<unknown> | undefined;
    await records.unit(async (inside) => {
      await inside.insert('usedValues', { id: 'of a unit', expiresAt: NOW });
      seen.push((await inside.lock('users', { id: first.id }))?.locale);
      if (over === undefined) {
        const { promise, resolve } = Promise.withResolvers<void>();
        over = interfere(resolve);
        await promise;
        await untilOneWaits();
      }
      // What is sent behind the conflict would be outside of the transaction.
      const behind = { id: `of run ${seen.length}`, expiresAt: NOW };
      await Promise.all([inside.lock('users', { id: second.id }), inside.insert('usedValues', behind)]);
    });
    await over;
    expect(seen).toEqual([first.locale, 'de']);
    expect(await records.list('usedValues', { equal: { id: 'of run 1' } })).toEqual([]);
    expect(await records.list('usedValues', { equal: { id: 'of a unit' } })).toHaveLength(1);
  });

  it('answers soon while the server hangs, and again when it goes on', async () => {
    const { records } = await open('tandem', '', { connectionTimeout: 3_000, statementTimeout: 3_000 });
    await server.freeze();
    const read = rejection(records.list('usedValues', { equal: { id: 'a value' } }));
    const unit = rejection(records.unit((inside) => inside.lock('users', { id: 'a user' })));
    expect(await read).toMatchObject({ code: 'DB_QUERY_FAILED' });
    expect(await unit).toMatchObject({ code: 'DB_QUERY_FAILED' });
    server.thaw();
    expect(await records.list('usedValues', { equal: { id: 'a value' } })).toEqual([]);
  });

  it('gives up waiting for a connection, and returns one that becomes free too late', async () => {
    const { em, connections } = await open('tandem', '', { poolSize: 1, connectionTimeout: 3_000 });
    await opened(other)
      .em.getKysely()
      .connection()
      .execute(async (holder) => {
        await sql`select get_lock('held', 0)`.execute(holder);
        const waiting = em.execute(`select get_lock('held', 60)`);
        await expect.poll(() => connections()?.used).toBe(1);
        await expect(em.execute('select 1')).rejects.toThrow('no connection of the pool became free in time');
        await sql`select release_lock('held')`.execute(holder);
        await waiting;
      });
    await expect.poll(() => connections()).toEqual({ used: 0, idle: 1, waiting: 0 });
    expect(await em.execute('select 1 as one')).toEqual([{ one: 1 }]);
  });
});
