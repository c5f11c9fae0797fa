import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../../src/infrastructure/database/database.ts';
import { openBoundSession, STILL_BOUND } from '../support/processes/bound-session.ts';
import { runData, runDataIn, startData } from '../support/processes/data-command.ts';
import { type RunningService, runService } from '../support/processes/process.ts';
import { type Holder, refreshAllAt, signUpAt } from '../support/processes/sessions-under-load.ts';
import { copyEmbedded } from '../support/storage/embedded-template.ts';
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

/** A service with an empty, migrated database. */
const startNew = async () => {
  const dataDir = newPath('data');
  await copyEmbedded(dataDir, { migrated: true });
  return { dataDir, service: await start(dataDir) };
};

const logged = ({ stdout }: RunningService): string[] => stdout.map((line) => JSON.parse(line).msg);

/** Copies a database. @returns the exit status, and whether a service that runs made the copy. */
const backUp = async (dataDir: string, file: string) => {
  const { status, stdout } = await runData(['backup', file], { DATA_DIR: dataDir });
  return [status, JSON.parse(stdout).live];
};

/** Every entry below a directory. */
const tree = (path: string): string[] => readdirSync(path, { recursive: true, encoding: 'utf8' }).sort();

/** A data directory with one user, whose service has ended, and a backup of it. */
let small: { readonly dataDir: string; readonly holder: Holder; readonly backup: string };
beforeAll(async () => {
  const dataDir = newPath('data');
  await copyEmbedded(dataDir, { migrated: true });
  const service = await runService({ DATA_DIR: dataDir, ...UNLIMITED });
  const holder = await signUpAt(service.url).finally(() => service.stop());
  const backup = newPath('small.tgz');
  expect((await runData(['backup', backup], { DATA_DIR: dataDir })).status).toBe(0);
  small = { dataDir, holder, backup };
});

describe('data backup', () => {
  // Proves: operator-8
  it('copies a database while sessions are refreshed; where it is restored, all of them go on', async () => {
    const { dataDir, service } = await startNew();
    const signUp = () => signUpAt(service.url);
    const idle = [await signUp(), await signUp()];
    const busy = [await signUp(), await signUp(), await signUp(), await signUp()];
    for (const holder of idle) expect((await holder.refresh(service.url)).status).toBe(200);
    const stop = refreshAllAt(service.url, busy);
    const file = newPath('backup.tgz');
    const backup = startData(['backup', file], { DATA_DIR: dataDir });
    let during = 0;
    const before = busy.reduce((sum, { refreshes }) => sum + refreshes(), 0);
    expect(await backup.outcome).toEqual({ code: 0, signal: null });
    during = busy.reduce((sum, { refreshes }) => sum + refreshes(), 0) - before;
    await stop();
    expect(during).toBeGreaterThan(0);
    expect(busy.flatMap(({ failures }) => failures)).toEqual([]);
    expect(JSON.parse(backup.stdout.join(''))).toMatchObject({
      file,
      live: true,
      keys: ['keys/access.pem', 'keys/refresh.pem', 'keys/factors.key'],
    });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    await service.stop('SIGKILL');

    const elsewhere = newPath('restored');
    expect(await runData(['restore', file], { DATA_DIR: elsewhere })).toMatchObject({ status: 0, stderr: '' });
    expect(readdirSync(elsewhere).sort()).toEqual(['database', 'keys', 'tandem.lock']);
    const tokens = await currentTokens(elsewhere);
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

  it('copies a database that no process uses, also after SIGKILL, and after the next start, where a socket was left', async () => {
    const { dataDir, service: killed } = await startNew();
    const holder = await signUpAt(killed.url);
    const bound = await openBoundSession(killed.url, UNLIMITED.BASE_URL);
    await killed.stop('SIGKILL');
    expect(readdirSync(join(dataDir, 'run'))).toEqual(['backup.sock']);
    const file = newPath('cold.tgz');
    expect(await backUp(dataDir, file)).toEqual([0, false]);
    const next = await start(dataDir);
    expect(await backUp(dataDir, newPath('left.tgz'))).toEqual([0, true]);
    expect(await next.stop()).toEqual({ code: 0, signal: null });
    expect(readdirSync(join(dataDir, 'run'))).toEqual([]);

    const elsewhere = newPath('restored');
    expect((await runData(['restore', file], { DATA_DIR: elsewhere })).status).toBe(0);
    const restored = await start(elsewhere);
    expect((await holder.refresh(restored.url)).status).toBe(200);
    expect(await bound.answersAt(restored.url)).toEqual(STILL_BOUND);
  });

  it('is refused while a service runs whose DATA_DIR is too long for a socket, which the service says', async () => {
    const deep = join(newPath('data'), 'd'.repeat(120));
    await copyEmbedded(deep, { migrated: true });
    const other = await start(deep);
    expect(logged(other).join('\n')).toMatch(/No backups while the service runs: /);
    const refused = await runData(['backup', newPath('none.tgz')], { DATA_DIR: deep });
    expect([refused.status, JSON.parse(refused.stdout).error.code]).toEqual([3, 'in-use']);
  });

  it('replaces no file, and writes none where there is no database', async () => {
    const { dataDir } = small;
    const file = newPath('taken.tgz');
    writeFileSync(file, 'precious');
    const codeOf = async (path: string, at: string) => {
      const { status, stdout } = await runData(['backup', path], { DATA_DIR: at });
      return [status, JSON.parse(stdout).error.code];
    };
    expect(await codeOf(file, dataDir)).toEqual([3, 'file-exists']);
    expect(readFileSync(file, 'utf8')).toBe('precious');
    expect(await codeOf(newPath('none.tgz'), newPath('nothing'))).toEqual([3, 'no-database']);
    expect(await codeOf(join(file, 'below.tgz'), dataDir)).toEqual([1, 'failed']);
  });

  it('leaves nothing when the disk is full', async () => {
    const dataDir = newPath('data');
    await copyEmbedded(dataDir, { migrated: true });
    const place = newPath('place');
    mkdirSync(place);
    const { status, stderr } = await runDataIn(smallFiles(500), ['backup', join(place, 'one.tgz')], {
      DATA_DIR: dataDir,
    });
    // PGlite cannot write the WAL either where files are small, and says so in its own words.
    expect([status, readdirSync(place)]).toEqual([1, []]);
    expect(stderr).not.toBe('');
  });

  it('omits the keys with --without-keys', async () => {
    const { dataDir, holder } = small;
    const file = newPath('no-keys.tgz');
    const { stdout } = await runData(['backup', file, '--without-keys'], { DATA_DIR: dataDir });
    expect(JSON.parse(stdout).keys).toEqual([]);
    const elsewhere = newPath('restored');
    expect((await runData(['restore', file], { DATA_DIR: elsewhere })).status).toBe(0);
    expect(readdirSync(elsewhere).sort()).toEqual(['database', 'tandem.lock']);
    expect((await holder.refresh((await start(elsewhere)).url)).status).toBe(401);
  });
});

/** A restore that was ended while it wrote. Repeated if it had been done before the signal came. */
const endedHalfWay = async (file: string) => {
  for (;;) {
    const dataDir = newPath('data');
    mkdirSync(dataDir);
    const { child, outcome: ending } = startData(['restore', file], { DATA_DIR: dataDir });
    await expect.poll(() => existsSync(join(dataDir, 'restoring')), { interval: 1 }).toBe(true);
    child.kill('SIGKILL');
    const outcome = await ending;
    if (!existsSync(join(dataDir, 'database'))) return { dataDir, outcome };
  }
};

describe('data restore', () => {
  it('does not touch a DATA_DIR that has a database, is in use, or has other keys', async () => {
    const dataDir = newPath('data');
    await copyEmbedded(dataDir, { migrated: true });
    mkdirSync(join(dataDir, 'keys'));
    writeFileSync(join(dataDir, 'keys/access.pem'), 'another key');
    const codeAt = async (at: string, ...more: string[]) => {
      const { status, stdout } = await runData(['restore', small.backup, ...more], { DATA_DIR: at });
      return [status, JSON.parse(stdout).error?.code];
    };
    const { close } = await openDatabase({ kind: 'embedded', dataDir }, { migrate: false });
    expect(await codeAt(dataDir)).toEqual([3, 'in-use']);
    await close();
    const before = tree(dataDir);
    expect(await codeAt(dataDir)).toEqual([3, 'database-exists']);
    expect(tree(dataDir)).toEqual(before);
    rmSync(join(dataDir, 'database'), { recursive: true });
    expect(await codeAt(dataDir)).toEqual([3, 'keys-differ']);
    expect(existsSync(join(dataDir, 'database'))).toBe(false);
    expect(await codeAt(dataDir, '--without-keys')).toEqual([0, undefined]);
  });

  // Proves: operator-8
  it('refuses a file that is cut, changed, or something else, before it touches anything', async () => {
    const bytes = readFileSync(small.backup);
    // Not a single bit: in the many zeros of a database, that may only lead to other zeros, and so to the same files.
    const changed = Buffer.from(bytes);
    for (let at = Math.floor(bytes.length / 2), end = at + 1000; at < end; at += 1) {
      changed.writeUInt8(changed.readUInt8(at) ^ 0xff, at);
    }
    const files = {
      cut: bytes.subarray(0, bytes.length - 2000),
      changed,
      empty: Buffer.alloc(0),
      text: Buffer.from('users'),
    };
    for (const [name, content] of Object.entries(files)) {
      const file = newPath(name);
      writeFileSync(file, content);
      const dataDir = newPath('data');
      const { status, stderr } = await runData(['restore', file], { DATA_DIR: dataDir });
      expect([name, status, stderr]).toEqual([name, 3, expect.stringMatching(/^This is no whole backup: .+\.$/)]);
      expect(existsSync(dataDir)).toBe(false);
    }
    const { status, stderr } = await runData(['restore', newPath('none')], { DATA_DIR: newPath('data') });
    expect([status, stderr]).toEqual([1, expect.stringContaining('ENOENT')]);
  });

  // Proves: operator-8
  it('never looks like a database when it is killed; the service waits for it to be repeated', async () => {
    const { dataDir, outcome } = await endedHalfWay(small.backup);
    expect(outcome).toEqual({ code: null, signal: 'SIGKILL' });
    await expect(runService({ DATA_DIR: dataDir })).rejects.toThrow('A backup was not restored to the end');
    expect((await runData(['restore', small.backup], { DATA_DIR: dataDir })).status).toBe(0);
    expect(readdirSync(dataDir).sort()).toEqual(['database', 'keys', 'tandem.lock']);
    expect((await currentTokens(dataDir)).size).toBe(1);
  });

  it('leaves nothing when the disk is full', async () => {
    const full = newPath('data');
    expect(await runDataIn(smallFiles(1000), ['restore', small.backup], { DATA_DIR: full })).toMatchObject({
      status: 1,
    });
    expect(readdirSync(full)).toEqual(['tandem.lock']);
  });

  it('restores an older database, which the next opening brings up to date', async () => {
    const dataDir = newPath('data');
    await copyEmbedded(dataDir, { migrated: false });
    const file = newPath('old.tgz');
    expect((await runData(['backup', file], { DATA_DIR: dataDir })).status).toBe(0);
    const elsewhere = newPath('restored');
    const { stdout } = await runData(['restore', file], { DATA_DIR: elsewhere });
    expect(JSON.parse(stdout)).toMatchObject({ rows: {} });
    const { em, close } = await openDatabase({ kind: 'embedded', dataDir: elsewhere }, { migrate: true });
    expect(await em.execute('select * from users').finally(close)).toEqual([]);
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
      expect(stderr).toContain(`npm run data -- ${command}`);
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
    expect(await runData(['move'], {})).toMatchObject({ status: 2, stderr: expect.stringContaining('DATABASE_URL') });
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
const currentTokens = async (dataDir: string): Promise<ReadonlyMap<string, string>> => {
  const { em, close } = await openDatabase({ kind: 'embedded', dataDir }, { migrate: false });
  const rows = await em
    .execute<{ user_id: string; current_token_id: string }[]>('select user_id, current_token_id from sessions')
    .finally(close);
  return new Map(rows.map((row) => [row.user_id, row.current_token_id]));
};
