import { cpSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { sendOver, TABLE_NAMES } from '../../../src/infrastructure/data/tables.ts';
import { type Database, openDatabase } from '../../../src/infrastructure/database/database.ts';
import { STILL_BOUND } from '../../support/processes/bound-session.ts';
import { runData, startData } from '../../support/processes/data-command.ts';
import { storeAccounts, useAccounts } from '../../support/processes/stored-accounts.ts';
import { openLineCutAtCommit } from '../../support/servers/cut-at-commit.ts';
import { canStartPgbouncer } from '../../support/servers/of-the-tests.ts';
import { createDatabase, inTransaction, onPostgresql, TEST_DATABASE_URL } from '../../support/storage/databases.ts';
import { copyEmbedded } from '../../support/storage/embedded-template.ts';
import { behindPgbouncer } from '../../support/storage/routes.ts';
import { temporaryDirectory } from '../../support/storage/temporary-directory.ts';

/** A DATA_DIR with a migrated embedded database, which no process uses. */
const newDataDir = async (): Promise<string> => {
  const { path, remove } = temporaryDirectory();
  onTestFinished(remove);
  await copyEmbedded(path, { migrated: true });
  return path;
};

/** Does something with the embedded database, and closes it. */
const within = async <Result>(dataDir: string, work: (database: Database) => Promise<Result>): Promise<Result> => {
  const database = await openDatabase({ kind: 'embedded', dataDir }, { migrate: false });
  return work(database).finally(database.close);
};

/** An empty PostgreSQL database, and a connection to it. */
const newTarget = async () => {
  const { url, drop } = await createDatabase(TEST_DATABASE_URL ?? '');
  onTestFinished(drop);
  const database = await openDatabase(onPostgresql(url), { migrate: false });
  onTestFinished(database.close);
  return { url, database, send: sendOver(database.em.getKysely()) };
};
type Target = Awaited<ReturnType<typeof newTarget>>;

/** What is moved. More sessions than are copied at once. */
const [USERS, SESSIONS] = [600, 2400];
const ALL = [USERS, SESSIONS];

const fill = (dataDir: string) =>
  within(dataDir, async ({ em }) => {
    await em.execute(`insert into users (id, username, username_canonical, email, password_hash, created_at, updated_at)
      select lpad(i::text, 26, '0'), 'Ünïcode "' || i || '"', 'name' || i, i || '@example.com', 'hash\\' || i, i, 1789000000000 + i
      from generate_series(1, ${USERS}) as i`);
    await em.execute(`insert into sessions (id, user_id, current_token_id, rotated_at, created_at, expires_at, user_agent, earlier_tokens,
        device_key, browser_key, proofs)
      select lpad(i::text, 26, '0'), lpad((1 + i % ${USERS})::text, 26, '0'), lpad(i::text, 26, '1'), i, i, 1890000000000 + i,
        case when i % 2 = 0 then 'Agent, "x" \\ ' || i end, jsonb_build_array(jsonb_build_object('id', i::text, 'rotatedAt', i)),
        case when i % 3 = 0 then 'page ' || i end, case when i % 5 = 0 then 'browser ' || i end, (array[i, 4000000000000000 + i])[1 + i % 3:2]
      from generate_series(1, ${SESSIONS}) as i`);
  });

const move = (dataDir: string, { url }: Target, ...more: string[]) =>
  runData(['move', ...more], { DATA_DIR: dataDir, DATABASE_URL: url });
const rowsOf = async ({ send }: Target, table: string) => {
  const [row] = await send<{ count: string }>(`select count(*) as count from ${table}`);
  return Number(row?.count);
};
const codeIn = (stdout: string): string => JSON.parse(stdout).error.code;

describe.skipIf(TEST_DATABASE_URL === undefined)('data move', () => {
  /** A DATA_DIR that is moved from again and again: a move only reads it. */
  const source = temporaryDirectory();
  beforeAll(async () => {
    await copyEmbedded(source.path, { migrated: true });
    await fill(source.path);
  });
  afterAll(source.remove);

  const countsOf = async (target: Target) => [await rowsOf(target, 'users'), await rowsOf(target, 'sessions')];

  // Proves: operator-8
  it('takes sessions, links and waiting mail of every kind along, and the events of an account', async () => {
    const dataDir = await newDataDir();
    const stored = await storeAccounts(dataDir);
    const target = await newTarget();
    expect(await move(dataDir, target)).toMatchObject({ status: 0, stderr: '' });
    const used = await useAccounts(stored, { DATA_DIR: dataDir, DATABASE_URL: target.url });
    const { events } = stored;
    expect(used).toEqual({ events, refreshed: 200, answersToBound: STILL_BOUND, resets: [200, 400] });
  });

  it('says with --dry-run what it would move, and writes nothing', async () => {
    const target = await newTarget();
    const { status, stdout } = await move(source.path, target, '--dry-run');
    expect([status, JSON.parse(stdout)]).toMatchObject([
      0,
      { moved: false, rows: { users: USERS, sessions: SESSIONS } },
    ]);
    expect(await target.send(`select 1 from pg_class where relname = 'users'`)).toEqual([]);
  });

  it('copies every row as it is, thousands of them, and leaves them in their source', async () => {
    const target = await newTarget();
    const { status, stdout, stderr } = await move(source.path, target);
    expect([status, stderr]).toEqual([0, '']);
    expect(JSON.parse(stdout)).toMatchObject({ moved: true, rows: { users: USERS, sessions: SESSIONS } });
    expect(await countsOf(target)).toEqual(ALL);
    await within(source.path, async ({ em }) => {
      for (const name of TABLE_NAMES) {
        const read = `select ${name}::text as row from ${name} order by 1`;
        expect(await target.send(read)).toEqual(await em.execute(read));
      }
    });
  });

  it('copies the rows of every table of the schema', async () => {
    const target = await newTarget();
    await target.database.migrate();
    const tables = await target.send<{ name: string }>(
      `select table_name as name from information_schema.tables where table_schema = current_schema()`,
    );
    expect(tables.map(({ name }) => name).sort()).toEqual([...TABLE_NAMES, 'mikro_orm_migrations'].sort());
  });

  it('refuses a target with rows, and does not migrate it', async () => {
    const target = await newTarget();
    await target.send('create table users (id char(26) primary key)');
    await target.send(`insert into users values ('${'x'.repeat(26)}')`);
    const { status, stdout } = await move(source.path, target);
    expect([status, codeIn(stdout)]).toEqual([3, 'target-not-empty']);
    expect(await rowsOf(target, 'users')).toBe(1);
    expect(await target.send(`select 1 from pg_class where relname = 'sessions'`)).toEqual([]);
  });

  it('is refused while the database is in use, without a database, and with that of a newer version', async () => {
    const dataDir = await newDataDir();
    const target = await newTarget();
    const codeAt = async (at: string) => {
      const { status, stdout } = await move(at, target);
      return [status, codeIn(stdout)];
    };
    expect(await within(dataDir, () => codeAt(dataDir))).toEqual([3, 'in-use']);
    const nothing = join(dataDir, 'nothing');
    expect(await codeAt(nothing)).toEqual([3, 'no-database']);
    expect(existsSync(nothing)).toBe(false);
    const { status, stderr } = await runData(['move'], {
      DATA_DIR: dataDir,
      DATABASE_URL: 'postgresql://x:S3CRET@127.0.0.1:1/x',
    });
    expect([status, stderr]).toEqual([
      1,
      expect.stringMatching(/^The database of DATABASE_URL cannot be opened: .*ECONNREFUSED/),
    ]);
    expect(stderr).not.toContain('S3CRET');
    await within(dataDir, ({ em }) => em.execute(`insert into mikro_orm_migrations (name) values ('9999-later')`));
    expect(await codeAt(dataDir)).toEqual([3, 'other-version']);
  });

  /** An empty target in which inserting sessions does something else first. */
  const targetWithTrigger = async (
    body: string,
    timing = 'before insert on sessions for each statement',
  ): Promise<Target> => {
    const target = await newTarget();
    await target.database.migrate();
    await target.send(`create function hold() returns trigger language plpgsql as $$ begin ${body} end $$`);
    await target.send(`create trigger hold ${timing} execute function hold()`);
    return target;
  };
  const LOCK = 4711;
  const waiting = `select pid from pg_stat_activity where wait_event = 'advisory' and datname = current_database()`;

  it('leaves the target empty when it is killed, and can be repeated', async () => {
    const target = await targetWithTrigger(`perform pg_advisory_xact_lock(${LOCK}); return null;`);
    const command = await inTransaction(target.database, async (send) => {
      await send(`select pg_advisory_xact_lock(${LOCK})`);
      const { child, outcome } = startData(['move'], { DATA_DIR: source.path, DATABASE_URL: target.url });
      await expect.poll(() => target.send(waiting)).toHaveLength(1);
      child.kill('SIGKILL');
      return { outcome };
    });
    expect(await command.outcome).toEqual({ code: null, signal: 'SIGKILL' });
    await expect
      .poll(() =>
        target.send(`select 1 from pg_stat_activity where application_name = 'tandem'
      and datname = current_database() and pid <> pg_backend_pid() and state <> 'idle'`),
      )
      .toEqual([]);
    expect(await countsOf(target)).toEqual([0, 0]);
    expect((await move(source.path, target)).status).toBe(0);
    expect(await countsOf(target)).toEqual(ALL);
  });

  it('leaves the target empty when the connection breaks', async () => {
    const target = await targetWithTrigger(`perform pg_terminate_backend(pg_backend_pid()); return null;`);
    const { status, stderr } = await move(source.path, target);
    expect([status, stderr]).toEqual([1, expect.stringMatching(/57P01|Connection terminated/)]);
    expect(await rowsOf(target, 'users')).toBe(0);
  });

  it('leaves the target empty when it does not store what it is given', async () => {
    const target = await targetWithTrigger(
      `return case when new.rotated_at = 1 then null else new end;`,
      'before insert on sessions for each row',
    );
    const { status, stderr } = await move(source.path, target);
    expect([status, stderr]).toEqual([
      1,
      expect.stringContaining(`sessions has ${SESSIONS} rows, ${SESSIONS - 1} copied`),
    ]);
    expect(await countsOf(target)).toEqual([0, 0]);
  });

  it.each([true, false])(
    'says what to look at when the connection breaks at the commit; the server got it: %s',
    async (arrives) => {
      const target = await newTarget();
      const line = await openLineCutAtCommit(target.url, 'in exclusive mode', arrives);
      onTestFinished(line.close);
      const { status, stderr } = await move(source.path, { ...target, url: line.url });
      expect([status, stderr]).toEqual([1, expect.stringContaining('unless `move --dry-run` is refused')]);
      const { status: dry } = await move(source.path, target, '--dry-run');
      expect([dry, await rowsOf(target, 'users')]).toEqual(arrives ? [3, USERS] : [0, 0]);
    },
  );

  it.runIf(canStartPgbouncer())('moves through PgBouncer in transaction mode', async () => {
    const { url, direct } = await behindPgbouncer({ default_pool_size: '1' });
    const database = await openDatabase(onPostgresql(direct), { migrate: false });
    onTestFinished(database.close);
    const target = { url, database, send: sendOver(database.em.getKysely()) };
    expect(await move(source.path, target)).toMatchObject({ status: 0, stderr: '' });
    expect(await countsOf(target)).toEqual(ALL);
  });

  it('lets one of two commands move into the same target', async () => {
    const target = await newTarget();
    const another = temporaryDirectory();
    onTestFinished(another.remove);
    cpSync(source.path, another.path, { recursive: true });
    const sources = [source.path, another.path];
    const results = await Promise.all(sources.map((dataDir) => move(dataDir, target)));
    expect(results.map(({ status }) => status).sort()).toEqual([0, 3]);
    expect(await rowsOf(target, 'users')).toBe(USERS);
  });
});
