import { spawnSync } from 'node:child_process';
import { createWriteStream, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../../src/adapters/mikro-orm/open-database.ts';
import { openBoundSession, STILL_BOUND } from '../support/processes/bound-session.ts';
import { runData, runDataIn, startData } from '../support/processes/data-command.ts';
import { type RunningService, runService } from '../support/processes/process.ts';
import { type Holder, refreshAllAt, signUpAt } from '../support/processes/sessions-under-load.ts';
import { fill } from '../support/records/fill.ts';
import { onSqlite } from '../support/storage/databases.ts';
import { temporaryDirectory } from '../support/storage/temporary-directory.ts';

const directory = temporaryDirectory();
afterAll(directory.remove);
let made = 0;
/** A path that nothing has yet. */
const newPath = (name: string): string => {
  made += 1;
  return join(directory.path, `${made}-${name}`);
};

const UNLIMITED = {
  BCRYPT_COST: '4',
  RATE_LIMITS: 'off',
  // However slow the machine is, nothing is too late; only a hang is.
  REQUEST_TIMEOUT_MS: '600000',
  BASE_URL: 'http://auth.example.org',
};

const start = async (dataDir: string): Promise<RunningService> => {
  const service = await runService({ DATA_DIR: dataDir, ...UNLIMITED });
  onTestFinished(async () => void (await service.stop('SIGKILL')));
  return service;
};

const makePipe = (path: string): void => void spawnSync('/bin/sh', ['-c', 'mkfifo "$0"', path]);
const fileIn = (dataDir: string): string => join(dataDir, 'database.sqlite');

/** A data directory without keys, with rows in every table. */
const newLarge = async (): Promise<string> => {
  const dataDir = newPath('data');
  const { records, close } = await openDatabase(onSqlite(fileIn(dataDir)), { migrate: true });
  await fill(records, 200).finally(close);
  return dataDir;
};

/** A data directory with one user, whose service has ended, and a backup of it. */
let small: { readonly dataDir: string; readonly holder: Holder; readonly backup: string };
beforeAll(async () => {
  const dataDir = newPath('data');
  const service = await runService({ DATA_DIR: dataDir, ...UNLIMITED });
  const holder = await signUpAt(service.url).finally(() => service.stop());
  const backup = newPath('small.gz');
  expect((await runData(['backup', backup], { DATA_DIR: dataDir })).status).toBe(0);
  small = { dataDir, holder, backup };
});

describe('data backup', () => {
  it('copies a database while sessions are refreshed; where it is restored, all of them go on', async () => {
    const dataDir = newPath('data');
    const service = await start(dataDir);
    const signUp = () => signUpAt(service.url);
    const idle = [await signUp(), await signUp()];
    const busy = [await signUp(), await signUp(), await signUp(), await signUp()];
    for (const holder of idle) expect((await holder.refresh(service.url)).status).toBe(200);
    const stop = refreshAllAt(service.url, busy);
    const file = newPath('backup.gz');
    const backup = startData(['backup', file], { DATA_DIR: dataDir });
    const before = busy.reduce((sum, { refreshes }) => sum + refreshes(), 0);
    expect(await backup.outcome).toEqual({ code: 0, signal: null });
    const during = busy.reduce((sum, { refreshes }) => sum + refreshes(), 0) - before;
    await stop();
    expect(during).toBeGreaterThan(0);
    expect(busy.flatMap(({ failures }) => failures)).toEqual([]);
    expect(JSON.parse(backup.stdout.join(''))).toMatchObject({
      file,
      rows: { users: 6, sessions: 6 },
      keys: ['keys/access.pem', 'keys/refresh.pem', 'keys/factors.key'],
    });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    await service.stop('SIGKILL');

    const elsewhere = newPath('restored');
    expect(await runData(['restore', file], { DATA_DIR: elsewhere })).toMatchObject({ status: 0, stderr: '' });
    expect(readdirSync(elsewhere).sort()).toEqual(['database.sqlite', 'keys']);
    const tokens = currentTokens(elsewhere);
    const restored = await start(elsewhere);
    for (const holder of idle) expect((await holder.refresh(restored.url)).status).toBe(200);
    for (const { userId, cookies } of busy) {
      const cookie = cookies().find((pair) => jtiOf(pair) === tokens.get(userId));
      const { status } = await fetch(`${restored.url}/auth/refresh-token`, {
        method: 'POST',
        headers: { Cookie: cookie ?? '' },
      });
      expect(status).toBe(200);
    }
  });

  it('copies a database whose service was killed', async () => {
    const dataDir = newPath('data');
    const killed = await start(dataDir);
    const holder = await signUpAt(killed.url);
    const bound = await openBoundSession(killed.url, UNLIMITED.BASE_URL);
    await killed.stop('SIGKILL');
    const file = newPath('cold.gz');
    expect((await runData(['backup', file], { DATA_DIR: dataDir })).status).toBe(0);

    const elsewhere = newPath('restored');
    expect((await runData(['restore', file], { DATA_DIR: elsewhere })).status).toBe(0);
    const restored = await start(elsewhere);
    expect((await holder.refresh(restored.url)).status).toBe(200);
    expect(await bound.answersAt(restored.url)).toEqual(STILL_BOUND);
  });

  it('leaves nothing when the disk is full', async () => {
    const place = newPath('place');
    mkdirSync(place);
    const { status, stderr } = await runDataIn(smallFiles(500), ['backup', join(place, 'one.gz')], {
      DATA_DIR: await newLarge(),
    });
    expect([status, stderr]).toEqual([1, expect.stringMatching(/disk/)]);
    expect(readdirSync(place)).toEqual([]);
  });

  it('makes no file when it is killed', async () => {
    const dataDir = newPath('data');
    mkdirSync(join(dataDir, 'keys'), { recursive: true });
    const database = await openDatabase(onSqlite(fileIn(dataDir)), { migrate: true });
    await database.close();
    // It waits for the first key, which is read when the database was copied.
    makePipe(join(dataDir, 'keys/access.pem'));
    const place = newPath('place');
    mkdirSync(place);
    const copies = () =>
      readdirSync(place, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('database.sqlite'));
    const { child, outcome } = startData(['backup', join(place, 'one.gz')], { DATA_DIR: dataDir });
    await expect.poll(copies).toHaveLength(1);
    child.kill('SIGKILL');
    expect(await outcome).toEqual({ code: null, signal: 'SIGKILL' });
    expect(existsSync(join(place, 'one.gz'))).toBe(false);
    for (const name of readdirSync(place)) expect([name, statSync(join(place, name)).mode & 0o077]).toEqual([name, 0]);
    rmSync(join(dataDir, 'keys'), { recursive: true });
    expect((await runData(['backup', join(place, 'one.gz')], { DATA_DIR: dataDir })).status).toBe(0);
  });

  it('omits the keys with --without-keys', async () => {
    const { dataDir, holder } = small;
    const file = newPath('no-keys.gz');
    const { stdout } = await runData(['backup', file, '--without-keys'], { DATA_DIR: dataDir });
    expect(JSON.parse(stdout).keys).toEqual([]);
    const elsewhere = newPath('restored');
    expect((await runData(['restore', file], { DATA_DIR: elsewhere })).status).toBe(0);
    expect(readdirSync(elsewhere).sort()).toEqual(['database.sqlite']);
    expect((await holder.refresh((await start(elsewhere)).url)).status).toBe(401);
  });
});

describe('data restore', () => {
  it('never looks like a database when it is killed, and can be repeated', async () => {
    const dataDir = newPath('data');
    const pipe = newPath('pipe');
    makePipe(pipe);
    const { child, outcome } = startData(['restore', pipe], { DATA_DIR: dataDir });
    const bytes = readFileSync(small.backup);
    const writer = createWriteStream(pipe).on('error', () => undefined);
    writer.write(bytes.subarray(0, bytes.length / 2));
    const written = () =>
      existsSync(dataDir)
        ? readdirSync(dataDir, { recursive: true, encoding: 'utf8' })
            .map((name) => statSync(join(dataDir, name)))
            .reduce((sum, stats) => sum + (stats.isFile() ? stats.size : 0), 0)
        : 0;
    await expect.poll(written).toBeGreaterThan(0);
    child.kill('SIGKILL');
    expect(await outcome).toEqual({ code: null, signal: 'SIGKILL' });
    writer.destroy();
    expect([existsSync(fileIn(dataDir)), existsSync(join(dataDir, 'keys'))]).toEqual([false, false]);
    expect((await runData(['restore', small.backup], { DATA_DIR: dataDir })).status).toBe(0);
    expect(currentTokens(dataDir).size).toBeGreaterThan(0);
  });

  it('leaves nothing when the disk is full', async () => {
    const full = newPath('data');
    const file = newPath('large.gz');
    expect((await runData(['backup', file], { DATA_DIR: await newLarge() })).status).toBe(0);
    const { status, stderr } = await runDataIn(smallFiles(500), ['restore', file], { DATA_DIR: full });
    expect([status, stderr]).toEqual([1, expect.stringMatching(/EFBIG|disk/)]);
    expect(existsSync(full)).toBe(false);
  });

  it('takes a backup from a program, such as one that decrypts', async () => {
    const dataDir = newPath('data');
    const env = { DATA_DIR: dataDir };
    const fromPipe = ['/bin/bash', '-c', `cat '${small.backup}' | "$@"`, 'bash'];
    expect((await runDataIn(fromPipe, ['restore', '/dev/stdin'], env)).status).toBe(0);
    expect(currentTokens(dataDir).size).toBeGreaterThan(0);
  });

  it('uses the file of DATABASE_URL', async () => {
    const [file, dataDir] = [newPath('a.sqlite'), newPath('data')];
    const env = { DATA_DIR: dataDir, DATABASE_URL: `sqlite:${file}` };
    expect((await runData(['restore', small.backup], env)).status).toBe(0);
    expect([existsSync(file), existsSync(fileIn(dataDir)), existsSync(join(dataDir, 'keys'))]).toEqual([
      true,
      false,
      true,
    ]);
    expect((await runData(['backup', newPath('again.gz')], env)).status).toBe(0);
  });
});

describe('data', () => {
  it.each([
    ['no command', []],
    ['a name that every object has', ['constructor']],
    ['two files', ['restore', 'a', 'b']],
    ['--dry-run for backup', ['backup', 'a', '--dry-run']],
  ])('prints its usage when it is given %s', async (_what, args) => {
    const { status, stdout, stderr } = await runData(args, {});
    expect([status, JSON.parse(stdout).error.code]).toEqual([2, 'arguments']);
    for (const command of ['backup FILE', 'restore FILE', 'move'])
      expect(stderr).toContain(`npx tandem data ${command}`);
  });

  it('prints its usage with --help, which says that a backup is secret', async () => {
    const { status, stdout } = await runData(['--help'], {});
    expect([status, stdout]).toEqual([0, expect.stringContaining('A BACKUP IS SECRET')]);
  });

  it('refuses a DATABASE_URL that is not for the command, and an invalid configuration', async () => {
    const url = { DATABASE_URL: 'postgresql://127.0.0.1:1/x' };
    expect(await runData(['backup', newPath('a')], url)).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('pg_dump'),
    });
    expect(await runData(['restore', newPath('a')], url)).toMatchObject({ status: 2 });
    expect(await runData(['backup', newPath('a')], { PORT: 'http' })).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('PORT: '),
    });
  });
});

/** Lets a command write files of so many KiB only. Node.js ignores the signal that comes with the error. */
const smallFiles = (kibibytes: number): readonly string[] => [
  '/bin/bash',
  '-c',
  `ulimit -f ${kibibytes}; exec "$@"`,
  'bash',
];

const jtiOf = (pair: string): string | undefined => decodeJwt(pair.slice(pair.indexOf('=') + 1)).jti;

/** The current refresh token of each user's session, in a database that no process uses. */
const currentTokens = (dataDir: string): ReadonlyMap<string, string> => {
  const database = new DatabaseSync(fileIn(dataDir));
  const rows = database.prepare('select user_id, current_token_id from sessions').all();
  database.close();
  return new Map(rows.map((row) => [String(row.user_id), String(row.current_token_id)]));
};
