// Proves operator-8
import { cpSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { withOwnTables } from '../../../src/adapters/records/own-tables.ts';
import { openBoundSession, STILL_BOUND } from '../../support/processes/bound-session.ts';
import { runHere, runSpawned, spawnCommand } from '../../support/processes/commands.ts';
import { runService } from '../../support/processes/process.ts';
import { signUpAt } from '../../support/processes/sessions-under-load.ts';
import { fill } from '../../support/records/sample-rows.ts';
import { canStartPgbouncer } from '../../support/servers/of-the-tests.ts';
import {
  createDatabase,
  inTransaction,
  onPostgresql,
  onSqlite,
  TEST_DATABASE_URL,
} from '../../support/storage/databases.ts';
import { openDatabase } from '../../support/storage/open-database.ts';
import { behindPgbouncer } from '../../support/storage/routes.ts';
import { temporaryDirectory } from '../../support/storage/temporary-directory.ts';

const directory = temporaryDirectory();
const { newPath } = directory;

const USERS = 100;
/** A DATA_DIR with rows in every table. A move only reads it. */
const source = { dataDir: newPath(), rows: 0 };
const fileIn = (dataDir: string) => join(dataDir, 'database.sqlite');
beforeAll(async () => {
  mkdirSync(source.dataDir);
  const { records, close } = await openDatabase(onSqlite(fileIn(source.dataDir)), { migrate: true });
  await fill(records, USERS);
  await close();
  const { stdout } = await move(`sqlite:${newPath()}`, { args: ['--dry-run'] });
  source.rows = JSON.parse(stdout).missing;
});

type More = { readonly from?: string; readonly dataDir?: string; readonly args?: readonly string[] };
const move = (to: string, { from = '', dataDir = source.dataDir, args = [] }: More = {}) =>
  runHere(['data', 'move', ...args], { DATA_DIR: dataDir, DATABASE_URL: to, MOVE_FROM: from });
const codeIn = (stdout: string): string => JSON.parse(stdout).error.code;
const copiedBy = ({ stdout }: { readonly stdout: string }) => JSON.parse(stdout).copied;

describe('data move', () => {
  it('says with --dry-run what it would move, and makes nothing', async () => {
    const target = newPath();
    const { status, stdout } = await move(`sqlite:${target}`, { args: ['--dry-run'] });
    expect([status, JSON.parse(stdout)]).toMatchObject([
      0,
      { moved: false, rows: { users: USERS }, missing: source.rows },
    ]);
    expect(existsSync(target)).toBe(false);
  });

  it('is refused without a database, to the same one, and with those of a newer version or without tables', async () => {
    const target = `sqlite:${newPath()}`;
    const nothing = newPath();
    const { status, stdout } = await move(target, { dataDir: nothing });
    expect([status, codeIn(stdout), existsSync(nothing)]).toEqual([3, 'no-database', false]);
    expect(codeIn((await move('')).stdout)).toBe('same-database');
    expect(codeIn((await move(`sqlite:${fileIn(source.dataDir)}`)).stdout)).toBe('same-database');
    const newer = newPath();
    cpSync(source.dataDir, newer, { recursive: true });
    const database = await openDatabase(onSqlite(fileIn(newer)), { migrate: false });
    await database.em.execute(`insert into tandem_migrations values ('9999-later')`);
    await database.close();
    expect(codeIn((await move(target, { dataDir: newer })).stdout)).toBe('other-version');
    expect(codeIn((await move(`sqlite:${fileIn(newer)}`)).stdout)).toBe('other-version');
    const empty = newPath();
    await (await openDatabase(onSqlite(empty), { migrate: false })).close();
    expect(codeIn((await move(target, { from: `sqlite:${empty}` })).stdout)).toBe('no-tables');
    expect((await move(`sqlite:${empty}`, { args: ['--dry-run'] })).status).toBe(0);
  });

  it('names MOVE_FROM where it is invalid, or leads nowhere, and shows no password', async () => {
    const invalid = await move(`sqlite:${newPath()}`, { from: 'ftp://x:S3CRET@host/x' });
    expect([invalid.status, invalid.stderr]).toEqual([
      2,
      expect.stringContaining('MOVE_FROM: expected a postgresql://'),
    ]);
    const unreachable = await move(`sqlite:${newPath()}`, { from: 'postgresql://x:S3CRET@127.0.0.1:1/x' });
    expect([unreachable.status, unreachable.stderr]).toEqual([
      1,
      expect.stringMatching(/MOVE_FROM cannot be opened: .*ECONNREFUSED/),
    ]);
    const target = await move('postgresql://x:S3CRET@127.0.0.1:1/x');
    expect([target.status, target.stderr]).toEqual([
      1,
      expect.stringMatching(/DATABASE_URL cannot be opened: .*ECONNREFUSED/),
    ]);
    expect(`${invalid.stderr}${unreachable.stderr}${target.stderr}`).not.toContain('S3CRET');
  });

  it('prints its progress on standard error while it runs', async () => {
    const { status, stdout, stderr } = await runSpawned(['data', 'move'], {
      DATA_DIR: source.dataDir,
      DATABASE_URL: `sqlite:${newPath()}`,
    });
    expect([status, JSON.parse(stdout).copied]).toEqual([0, source.rows]);
    expect(stderr.split('\n')).toEqual(
      expect.arrayContaining([`users: ${USERS} rows copied.`, 'Comparing all rows …']),
    );
  });

  it('leaves out tables of an application, and names them', async () => {
    const dataDir = newPath();
    mkdirSync(dataDir);
    const tables = withOwnTables({ orders: { columns: { id: 'text' }, key: ['id'] } });
    await (await openDatabase(onSqlite(fileIn(dataDir)), { migrate: true, tables })).close();
    const { status, stdout, stderr } = await move(`sqlite:${newPath()}`, { dataDir });
    expect([status, JSON.parse(stdout).copied]).toEqual([0, 0]);
    expect(stderr).toContain('app_orders: left out');
  });
});

/** An empty PostgreSQL, and a connection to it. */
const newServer = async () => {
  const { url } = await createDatabase(TEST_DATABASE_URL ?? '');
  const database = await openDatabase(onPostgresql(url), { migrate: false });
  return { url, database };
};

describe.skipIf(TEST_DATABASE_URL === undefined)('data move with PostgreSQL', () => {
  it('logs nobody out, there and back, and leaves bound sessions bound', async () => {
    const env = { DATA_DIR: newPath(), BASE_URL: 'http://auth.example.org' };
    const running = async <Result>(more: object, work: (url: string) => Promise<Result>): Promise<Result> => {
      const service = await runService({ ...env, ...more });
      const result = await work(service.url);
      await service.stop();
      return result;
    };
    const [holder, bound] = await running({ BCRYPT_COST: '4' }, (url) =>
      Promise.all([signUpAt(url), openBoundSession(url, env.BASE_URL)]),
    );
    const [{ url: there }, back] = [await newServer(), `sqlite:${newPath()}`];
    expect((await move(there, { dataDir: env.DATA_DIR })).status).toBe(0);
    await running({ DATABASE_URL: there }, async (url) => {
      expect((await holder.refresh(url)).status).toBe(200);
      expect(await bound.answersAt(url)).toEqual(STILL_BOUND);
    });
    // In the same place.
    expect((await move(back, { dataDir: env.DATA_DIR, from: there })).status).toBe(0);
    await running({ DATABASE_URL: back }, async (url) => expect((await holder.refresh(url)).status).toBe(200));
  });

  const LOCK = 4711;
  const waiting = `select pid from pg_stat_activity where wait_event = 'advisory' and datname = current_database()`;

  /** An empty target in which inserting links does something else first. */
  const targetWithTrigger = async (body: string) => {
    const target = await newServer();
    await (await openDatabase(onPostgresql(target.url), { migrate: true })).close();
    const { em } = target.database;
    await em.execute(`create function hold() returns trigger language plpgsql as $$ begin ${body} return new; end $$`);
    await em.execute(`create trigger hold before insert on links for each row execute function hold()`);
    return target;
  };

  it('goes on where it was killed', async () => {
    const { url, database } = await targetWithTrigger(`perform pg_advisory_xact_lock(${LOCK});`);
    await inTransaction(database, async (send) => {
      await send(`select pg_advisory_xact_lock(${LOCK})`);
      const { child, outcome } = spawnCommand(['data', 'move'], { DATA_DIR: source.dataDir, DATABASE_URL: url });
      await expect.poll(() => database.em.execute(waiting)).toHaveLength(1);
      child.kill('SIGKILL');
      expect(await outcome).toEqual({ code: null, signal: 'SIGKILL' });
    });
    const left = copiedBy(await move(url));
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThan(source.rows);
    expect(copiedBy(await move(url))).toBe(0);
  });

  it.runIf(canStartPgbouncer())('moves through PgBouncer in transaction mode', async () => {
    const { url } = await behindPgbouncer({ default_pool_size: '1' });
    expect(copiedBy(await move(url))).toBe(source.rows);
  });
});
