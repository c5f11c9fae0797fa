import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { sendOver, TABLE_NAMES } from '../../../src/infrastructure/data/tables.ts';
import { type Database, openDatabase } from '../../../src/infrastructure/database/database.ts';
import { openBoundSession, STILL_BOUND } from '../../support/processes/bound-session.ts';
import { runData, startData } from '../../support/processes/data-command.ts';
import { runService } from '../../support/processes/process.ts';
import { signUpAt } from '../../support/processes/sessions-under-load.ts';
import { storeAccounts, useAccounts } from '../../support/processes/stored-accounts.ts';
import { openLineCutAtCommit } from '../../support/servers/cut-at-commit.ts';
import { canStartPgbouncer } from '../../support/servers/of-the-tests.ts';
import { createDatabase, inTransaction, onPostgresql, TEST_DATABASE_URL } from '../../support/storage/databases.ts';
import { copyEmbedded } from '../../support/storage/embedded-template.ts';
import { behindPgbouncer } from '../../support/storage/routes.ts';
import { temporaryDirectory } from '../../support/storage/temporary-directory.ts';

const UNLIMITED = { BCRYPT_COST: '4', RATE_LIMITS: 'off', BASE_URL: 'http://auth.example.org' };

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

const fill = (dataDir: string, users: number, sessionsOfEach: number) =>
  within(dataDir, async ({ em }) => {
    await em.execute(`insert into users (id, username, username_canonical, email, password_hash, created_at, updated_at)
      select lpad(i::text, 26, '0'), 'Ünïcode "' || i || '"', 'name' || i, i || '@example.com', 'hash\\' || i, i, 1789000000000 + i
      from generate_series(1, ${users}) as i`);
    await em.execute(`insert into sessions (id, user_id, current_token_id, rotated_at, created_at, expires_at, user_agent, earlier_tokens,
        device_key, browser_key, proofs)
      select lpad(i::text, 26, '0'), lpad((1 + i % ${users})::text, 26, '0'), lpad(i::text, 26, '1'), i, i, 1890000000000 + i,
        case when i % 2 = 0 then 'Agent, "x" \\ ' || i end, jsonb_build_array(jsonb_build_object('id', i::text, 'rotatedAt', i)),
        case when i % 3 = 0 then 'page ' || i end, case when i % 5 = 0 then 'browser ' || i end, (array[i, 4000000000000000 + i])[1 + i % 3:2]
      from generate_series(1, ${users * sessionsOfEach}) as i`);
  });

const move = (dataDir: string, { url }: Target, ...more: string[]) =>
  runData(['move', ...more], { DATA_DIR: dataDir, DATABASE_URL: url });
const rowsOf = async ({ send }: Target, table: string) => {
  const [row] = await send<{ count: string }>(`select count(*) as count from ${table}`);
  return Number(row?.count);
};
const codeIn = (stdout: string): string => JSON.parse(stdout).error.code;

describe.skipIf(TEST_DATABASE_URL === undefined)('data move', () => {
  it('moves thousands of users and sessions, and nobody is logged out', async () => {
    const dataDir = await newDataDir();
    await fill(dataDir, 3000, 3);
    const before = await runService({ DATA_DIR: dataDir, ...UNLIMITED });
    onTestFinished(async () => void (await before.stop('SIGKILL')));
    const holders = await Promise.all(Array.from({ length: 8 }, () => signUpAt(before.url)));
    for (const holder of holders) expect((await holder.refresh(before.url)).status).toBe(200);
    const bound = await openBoundSession(before.url, UNLIMITED.BASE_URL);
    await before.stop();
    const target = await newTarget();
    const { status, stdout, stderr } = await move(dataDir, target);
    expect([status, stderr]).toEqual([0, '']);
    const report = JSON.parse(stdout);
    expect(report.moved).toBe(true);
    expect(report.rows).toMatchObject({ users: 3009, sessions: 9009 });
    expect([await rowsOf(target, 'users'), await rowsOf(target, 'sessions')]).toEqual([3009, 9009]);

    const after = await runService({ DATA_DIR: dataDir, DATABASE_URL: target.url, ...UNLIMITED });
    onTestFinished(async () => void (await after.stop('SIGKILL')));
    for (const holder of holders) expect((await holder.refresh(after.url)).status).toBe(200);
    expect(await bound.answersAt(after.url)).toEqual(STILL_BOUND);
    await signUpAt(after.url);
    const left = await within(dataDir, ({ em }) =>
      em.execute<{ count: number }[]>('select count(*)::int as count from users'),
    );
    expect(left).toEqual([{ count: 3009 }]);
  });

  // Proves: operator-8
  it('takes links and waiting mail of every kind along, and the events of an account', async () => {
    const dataDir = await newDataDir();
    const stored = await storeAccounts(dataDir);
    const target = await newTarget();
    expect(await move(dataDir, target)).toMatchObject({ status: 0, stderr: '' });
    const used = await useAccounts(stored, { DATA_DIR: dataDir, DATABASE_URL: target.url });
    expect(used).toEqual({ events: stored.events, refreshed: 200, resets: [200, 400] });
  });

  it('says with --dry-run what it would move, and writes nothing', async () => {
    const dataDir = await newDataDir();
    await fill(dataDir, 20, 2);
    const target = await newTarget();
    const { status, stdout } = await move(dataDir, target, '--dry-run');
    expect([status, JSON.parse(stdout)]).toMatchObject([0, { moved: false, rows: { users: 20, sessions: 40 } }]);
    expect(await target.send(`select 1 from pg_class where relname = 'users'`)).toEqual([]);
  });

  it('copies every row as it is', async () => {
    const dataDir = await newDataDir();
    await fill(dataDir, 20, 2);
    const target = await newTarget();
    const { status, stderr } = await move(dataDir, target);
    expect([status, stderr]).toEqual([0, '']);
    await within(dataDir, async ({ em }) => {
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
    const dataDir = await newDataDir();
    const target = await newTarget();
    await target.send('create table users (id char(26) primary key)');
    await target.send(`insert into users values ('${'x'.repeat(26)}')`);
    const { status, stdout } = await move(dataDir, target);
    expect([status, codeIn(stdout)]).toEqual([3, 'target-not-empty']);
    expect(await rowsOf(target, 'users')).toBe(1);
    expect(await target.send(`select 1 from pg_class where relname = 'sessions'`)).toEqual([]);
  });

  it('is refused while a service runs, without a database, and with that of a newer version', async () => {
    const dataDir = await newDataDir();
    const target = await newTarget();
    const service = await runService({ DATA_DIR: dataDir });
    onTestFinished(async () => void (await service.stop('SIGKILL')));
    const codeAt = async (at: string) => {
      const { status, stdout } = await move(at, target);
      return [status, codeIn(stdout)];
    };
    expect(await codeAt(dataDir)).toEqual([3, 'in-use']);
    await service.stop();
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
    const dataDir = await newDataDir();
    await fill(dataDir, 1500, 2);
    const target = await targetWithTrigger(`perform pg_advisory_xact_lock(${LOCK}); return null;`);
    const command = await inTransaction(target.database, async (send) => {
      await send(`select pg_advisory_xact_lock(${LOCK})`);
      const { child, outcome } = startData(['move'], { DATA_DIR: dataDir, DATABASE_URL: target.url });
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
    expect([await rowsOf(target, 'users'), await rowsOf(target, 'sessions')]).toEqual([0, 0]);
    expect((await move(dataDir, target)).status).toBe(0);
    expect([await rowsOf(target, 'users'), await rowsOf(target, 'sessions')]).toEqual([1500, 3000]);
  });

  it('leaves the target empty when the connection breaks', async () => {
    const dataDir = await newDataDir();
    await fill(dataDir, 10, 1);
    const target = await targetWithTrigger(`perform pg_terminate_backend(pg_backend_pid()); return null;`);
    const { status, stderr } = await move(dataDir, target);
    expect([status, stderr]).toEqual([1, expect.stringMatching(/57P01|Connection terminated/)]);
    expect(await rowsOf(target, 'users')).toBe(0);
  });

  it('leaves the target empty when it does not store what it is given', async () => {
    const dataDir = await newDataDir();
    await fill(dataDir, 10, 1);
    const target = await targetWithTrigger(
      `return case when new.rotated_at = 1 then null else new end;`,
      'before insert on sessions for each row',
    );
    const { status, stderr } = await move(dataDir, target);
    expect([status, stderr]).toEqual([1, expect.stringContaining('sessions has 10 rows, 9 copied')]);
    expect([await rowsOf(target, 'users'), await rowsOf(target, 'sessions')]).toEqual([0, 0]);
  });

  it.each([true, false])(
    'says what to look at when the connection breaks at the commit; the server got it: %s',
    async (arrives) => {
      const dataDir = await newDataDir();
      await fill(dataDir, 10, 1);
      const target = await newTarget();
      const line = await openLineCutAtCommit(target.url, 'in exclusive mode', arrives);
      onTestFinished(line.close);
      const { status, stderr } = await move(dataDir, { ...target, url: line.url });
      expect([status, stderr]).toEqual([1, expect.stringContaining('unless `move --dry-run` is refused')]);
      const { status: dry } = await move(dataDir, target, '--dry-run');
      expect([dry, await rowsOf(target, 'users')]).toEqual(arrives ? [3, 10] : [0, 0]);
    },
  );

  it.runIf(canStartPgbouncer())('moves through PgBouncer in transaction mode', async () => {
    const dataDir = await newDataDir();
    await fill(dataDir, 1500, 1);
    const { url, direct } = await behindPgbouncer({ default_pool_size: '1' });
    const database = await openDatabase(onPostgresql(direct), { migrate: false });
    onTestFinished(database.close);
    const target = { url, database, send: sendOver(database.em.getKysely()) };
    expect(await move(dataDir, target)).toMatchObject({ status: 0, stderr: '' });
    expect([await rowsOf(target, 'users'), await rowsOf(target, 'sessions')]).toEqual([1500, 1500]);
  });

  it('lets one of two commands move into the same target', async () => {
    const target = await newTarget();
    const sources = [await newDataDir(), await newDataDir()];
    for (const dataDir of sources) await fill(dataDir, 50, 1);
    const results = await Promise.all(sources.map((dataDir) => move(dataDir, target)));
    expect(results.map(({ status }) => status).sort()).toEqual([0, 3]);
    expect(await rowsOf(target, 'users')).toBe(50);
  });
});
