// Proves operator-8
import { spawnSync } from 'node:child_process';
import { createWriteStream, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { decodeJwt } from 'jose';
import { beforeAll, describe, expect, it } from 'vitest';
import { openDatabase } from '../../src/adapters/mikro-orm/open-database.ts';
import { aPerson } from '../support/http/service.ts';
import { openBoundSession, STILL_BOUND } from '../support/processes/bound-session.ts';
import { runHere, runSpawned, smallFiles, spawnCommand } from '../support/processes/commands.ts';
import { runService } from '../support/processes/process.ts';
import { type Holder, refreshAllAt, signUpAt } from '../support/processes/sessions-under-load.ts';
import { fill } from '../support/records/sample-rows.ts';
import { onSqlite } from '../support/storage/databases.ts';
import { temporaryDirectory } from '../support/storage/temporary-directory.ts';

const directory = temporaryDirectory();
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

const start = (dataDir: string) => runService({ DATA_DIR: dataDir, ...UNLIMITED });

const data = (args: readonly string[], dataDir: string) => runHere(['data', ...args], { DATA_DIR: dataDir });
const makePipe = (path: string): void => void spawnSync('/bin/sh', ['-c', 'mkfifo "$0"', path]);
const fileIn = (dataDir: string): string => join(dataDir, 'database.sqlite');
const jtiOf = (pair: string): string | undefined => decodeJwt(pair.slice(pair.indexOf('=') + 1)).jti;

/** The current refresh token of each user's session, in a database that no process uses. */
const currentTokens = (dataDir: string): ReadonlyMap<string, string> => {
  const database = new DatabaseSync(fileIn(dataDir));
  const rows = database.prepare('select user_id, current_token_id from sessions').all();
  database.close();
  return new Map(rows.map((row) => [String(row.user_id), String(row.current_token_id)]));
};

/** A data directory with one user, whose service has ended, and a backup of it. */
let small: { readonly dataDir: string; readonly holder: Holder; readonly backup: string };
const person = aPerson();
beforeAll(async () => {
  const dataDir = newPath('data');
  const service = await start(dataDir);
  const holder = await signUpAt(service.url, person).finally(() => service.stop());
  const backup = newPath('small.gz');
  expect((await data(['backup', backup], dataDir)).status).toBe(0);
  small = { dataDir, holder, backup };
});

describe('data backup and restore', () => {
  it('copy a database while sessions are refreshed; where it is restored, all of them go on', async () => {
    const dataDir = newPath('data');
    const service = await start(dataDir);
    const signUp = () => signUpAt(service.url);
    const idle = [await signUp(), await signUp()];
    const busy = [await signUp(), await signUp(), await signUp(), await signUp()];
    const bound = await openBoundSession(service.url, UNLIMITED.BASE_URL);
    for (const holder of idle) expect((await holder.refresh(service.url)).status).toBe(200);
    const stop = refreshAllAt(service.url, busy);
    const file = newPath('backup.gz');
    const backup = spawnCommand(['data', 'backup', file], { DATA_DIR: dataDir });
    const before = busy.reduce((sum, { refreshes }) => sum + refreshes(), 0);
    expect(await backup.outcome).toEqual({ code: 0, signal: null });
    const during = busy.reduce((sum, { refreshes }) => sum + refreshes(), 0) - before;
    await stop();
    expect(during).toBeGreaterThan(0);
    expect(busy.flatMap(({ failures }) => failures)).toEqual([]);
    expect(JSON.parse(backup.stdout.join(''))).toMatchObject({
      file,
      rows: { users: 7, sessions: 7 },
      keys: ['keys/access.pem', 'keys/refresh.pem', 'keys/factors.key'],
    });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    await service.stop('SIGKILL');

    const elsewhere = newPath('restored');
    expect(await data(['restore', file], elsewhere)).toMatchObject({ status: 0, stderr: '' });
    expect(readdirSync(elsewhere).sort()).toEqual(['database.sqlite', 'keys']);
    const tokens = currentTokens(elsewhere);
    const restored = await start(elsewhere);
    for (const holder of idle) expect((await holder.refresh(restored.url)).status).toBe(200);
    for (const { userId, cookies } of busy) {
      const cookie = cookies().find((pair) => jtiOf(pair) === tokens.get(userId));
      const headers = { Cookie: cookie ?? '' };
      const { status } = await fetch(`${restored.url}/auth/refresh-token`, { method: 'POST', headers });
      expect(status).toBe(200);
    }
    expect(await bound.answersAt(restored.url)).toEqual(STILL_BOUND);
    // What the killed service has left can be backed up as well, with the rows that are in the log of SQLite alone.
    const [cold, again] = [newPath('cold.gz'), newPath('again')];
    expect(statSync(`${fileIn(dataDir)}-wal`).size).toBeGreaterThan(0);
    expect((await data(['backup', cold], dataDir)).status).toBe(0);
    expect((await data(['restore', cold], again)).status).toBe(0);
    const latest = currentTokens(again);
    for (const { userId, cookies } of busy) expect(latest.get(userId)).toBe(jtiOf(cookies().at(-1) ?? ''));
  });

  it('leave nothing when the disk is full', async () => {
    const dataDir = newPath('data');
    const { records, close } = await openDatabase(onSqlite(fileIn(dataDir)), { migrate: true });
    await fill(records, 200).finally(close);
    const [place, full, file] = [newPath('place'), newPath('full'), newPath('large.gz')];
    mkdirSync(place);
    const stopped = { status: 1, stderr: expect.stringMatching(/EFBIG|disk/) };
    const backup = ['data', 'backup', join(place, 'one.gz')];
    expect(await runSpawned(backup, { DATA_DIR: dataDir }, smallFiles(500))).toMatchObject(stopped);
    expect((await data(['backup', file], dataDir)).status).toBe(0);
    expect(await runSpawned(['data', 'restore', file], { DATA_DIR: full }, smallFiles(500))).toMatchObject(stopped);
    expect([readdirSync(place), existsSync(full)]).toEqual([[], false]);
  });

  it('use the file of DATABASE_URL, and take a backup from a program, such as one that decrypts', async () => {
    const [file, dataDir] = [newPath('a.sqlite'), newPath('data')];
    const env = { DATA_DIR: dataDir, DATABASE_URL: `sqlite:${file}` };
    const fromPipe = ['/bin/bash', '-c', `cat '${small.backup}' | "$@"`, 'bash'];
    expect((await runSpawned(['data', 'restore', '/dev/stdin', '--without-keys'], env, fromPipe)).status).toBe(0);
    const isThere = [file, fileIn(dataDir), join(dataDir, 'keys')].map((path) => existsSync(path));
    expect(isThere).toEqual([true, false, false]);
    expect((await runHere(['data', 'backup', newPath('again.gz')], env)).status).toBe(0);
  });
});

describe('data that is killed', () => {
  it('makes no backup', async () => {
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
    const { child, outcome } = spawnCommand(['data', 'backup', join(place, 'one.gz')], { DATA_DIR: dataDir });
    await expect.poll(copies).toHaveLength(1);
    child.kill('SIGKILL');
    expect(await outcome).toEqual({ code: null, signal: 'SIGKILL' });
    expect(existsSync(join(place, 'one.gz'))).toBe(false);
    for (const name of readdirSync(place)) expect([name, statSync(join(place, name)).mode & 0o077]).toEqual([name, 0]);
    rmSync(join(dataDir, 'keys'), { recursive: true });
    expect((await data(['backup', join(place, 'one.gz')], dataDir)).status).toBe(0);
  });

  it('restores nothing that looks like a database, and can be repeated', async () => {
    const above = newPath('above');
    mkdirSync(above);
    const dataDir = join(above, 'data');
    const pipe = newPath('pipe');
    makePipe(pipe);
    const { child, outcome } = spawnCommand(['data', 'restore', pipe], { DATA_DIR: dataDir });
    const bytes = readFileSync(small.backup);
    const writer = createWriteStream(pipe).on('error', () => undefined);
    writer.write(bytes.subarray(0, bytes.length / 2));
    const written = () =>
      readdirSync(above, { recursive: true, encoding: 'utf8' })
        .map((name) => statSync(join(above, name)))
        .reduce((sum, stats) => sum + (stats.isFile() ? stats.size : 0), 0);
    await expect.poll(written).toBeGreaterThan(0);
    child.kill('SIGKILL');
    expect(await outcome).toEqual({ code: null, signal: 'SIGKILL' });
    writer.destroy();
    expect(existsSync(dataDir)).toBe(false);
    expect((await data(['restore', small.backup], dataDir)).status).toBe(0);
    expect(currentTokens(dataDir).size).toBeGreaterThan(0);
  });
});

it('data refuses a DATABASE_URL that is not for the command, and an invalid configuration', async () => {
  const server = { DATABASE_URL: 'postgresql://127.0.0.1:1/x' };
  for (const [env, why] of [
    [server, 'pg_dump'],
    [{ PORT: 'http' }, 'PORT: '],
  ] as const)
    for (const command of ['backup', 'restore'])
      expect(await runHere(['data', command, newPath('a')], env)).toMatchObject({
        status: 2,
        stderr: expect.stringContaining(why),
      });
});
