// Proves operator-3
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  globSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { beforeEach, describe, expect, it } from 'vitest';
import { makeDatabasePrivate } from '../../src/adapters/mikro-orm/private-file.ts';
import { openSql } from '../../src/infrastructure/open-sql.ts';
import { restrictDirectory } from '../../src/infrastructure/private-data.ts';
import { onSqlite } from '../support/storage/databases.ts';
import { temporaryDirectory } from '../support/storage/temporary-directory.ts';

const NOBODY = 65_534;
const isRoot = process.geteuid?.() === 0;

const modeOf = (path: string): string => (statSync(path).mode & 0o7777).toString(8);

describe('the data of the service', () => {
  let directory: ReturnType<typeof temporaryDirectory>;
  let dataDir: string;
  const within = (...names: string[]) => join(dataDir, ...names);
  beforeEach(() => {
    directory = temporaryDirectory();
    chmodSync(directory.path, 0o755);
    dataDir = join(directory.path, 'data');
    mkdirSync(dataDir);
    chmodSync(dataDir, 0o755);
  });

  /** As keys that were made under the umask 022, or lower. */
  const loose = (dirMode = 0o755, fileMode = 0o644) => {
    mkdirSync(within('keys', 'old'), { recursive: true });
    writeFileSync(within('keys', 'access.pem'), 'a key');
    writeFileSync(within('keys', 'old', 'access.pem'), 'a key');
    for (const path of globSync('**', { cwd: within('keys') }).map((name) => within('keys', name)))
      chmodSync(path, statSync(path).isDirectory() ? dirMode : fileMode);
  };

  it('is closed to others when it is not, so that they reach nothing in it', () => {
    loose(0o775, 0o666);
    restrictDirectory(dataDir, 'keys');
    expect([modeOf(dataDir), modeOf(within('keys'))]).toEqual(['700', '700']);
  });

  it('is closed where DATA_DIR is a link', () => {
    loose();
    const link = join(directory.path, 'link');
    symlinkSync(dataDir, link);
    restrictDirectory(link, 'keys');
    expect([modeOf(dataDir), modeOf(within('keys')), lstatSync(link).isSymbolicLink()]).toEqual(['700', '700', true]);
  });

  it('leaves a DATA_DIR alone that holds something else, or is there for everybody, and closes its own part of it', () => {
    loose();
    writeFileSync(within('theirs'), '');
    chmodSync(within('theirs'), 0o644);
    restrictDirectory(dataDir, 'keys');
    expect([modeOf(dataDir), modeOf(within('theirs')), modeOf(within('keys'))]).toEqual(['755', '644', '700']);

    const shared = join(directory.path, 'shared');
    mkdirSync(shared);
    chmodSync(shared, 0o1777);
    mkdirSync(join(shared, 'keys'));
    chmodSync(join(shared, 'keys'), 0o755);
    restrictDirectory(shared, 'keys');
    expect([modeOf(shared), modeOf(join(shared, 'keys'))]).toEqual(['1777', '700']);
  });

  it('follows no link', () => {
    const theirs = join(directory.path, 'theirs');
    mkdirSync(theirs);
    writeFileSync(join(theirs, 'file'), '');
    chmodSync(theirs, 0o755);
    chmodSync(join(theirs, 'file'), 0o644);
    symlinkSync(theirs, within('keys'));
    restrictDirectory(dataDir, 'mail');
    expect(() => restrictDirectory(dataDir, 'keys')).toThrow('everybody may enter keys');
    expect([modeOf(theirs), modeOf(join(theirs, 'file'))]).toEqual(['755', '644']);
    chmodSync(theirs, 0o750);
    restrictDirectory(dataDir, 'keys');
    expect(modeOf(theirs)).toBe('750');
  });

  it('is left as it is when it is private, and missed nowhere', () => {
    restrictDirectory(dataDir, 'keys');
    restrictDirectory(join(directory.path, 'nowhere'), 'keys');
    mkdirSync(within('keys'), { mode: 0o700 });
    const before = statSync(within('keys')).ctimeMs;
    restrictDirectory(dataDir, 'keys');
    expect(statSync(within('keys')).ctimeMs).toBe(before);
  });

  it('is a file of SQLite for its owner alone, in a directory that is made for it', () => {
    const path = within('deep', 'database.sqlite');
    makeDatabasePrivate(path);
    expect([modeOf(path), modeOf(within('deep'))]).toEqual(['600', '700']);
  });

  it('is a file of SQLite that was made under another umask, and those beside it, which are closed to others', () => {
    const names = ['database.sqlite', 'database.sqlite-wal', 'database.sqlite-shm', 'database.sqlite-journal'];
    const made = names.slice(0, 3).map((name) => within(name));
    for (const path of made) {
      writeFileSync(path, 'a hash');
      chmodSync(path, 0o666);
    }
    makeDatabasePrivate(within('database.sqlite'));
    expect(made.map(modeOf)).toEqual(['600', '600', '600']);
    expect(readFileSync(within('database.sqlite'), 'utf8')).toBe('a hash');
    expect(existsSync(within('database.sqlite-journal'))).toBe(false);
  });

  it('is in a directory that is closed to others when the database is opened, unless it has something else', async () => {
    for (const [others, mode] of [
      [[], '700'],
      [['notes.txt'], '755'],
    ] as const) {
      const own = within(mode);
      mkdirSync(own);
      chmodSync(own, 0o755);
      for (const name of others) writeFileSync(join(own, name), '');
      const { close } = await openSql(onSqlite(join(own, 'database.sqlite')), { migrate: true });
      await close();
      expect(modeOf(own)).toBe(mode);
    }
  });

  it('does not release the lock that this process holds on a file of SQLite', () => {
    const path = within('database.sqlite');
    const holder = new DatabaseSync(path);
    holder.exec('create table t (x text); begin exclusive');
    makeDatabasePrivate(path);
    // A process that finds no lock would write.
    const other = `const { DatabaseSync } = require('node:sqlite'); new DatabaseSync(process.argv[1]).exec('begin immediate')`;
    const { status, stderr } = spawnSync(process.execPath, ['-e', other, path], { encoding: 'utf8' });
    holder.close();
    expect([status, stderr]).toEqual([1, expect.stringContaining('database is locked')]);
  });

  /** What another user than root gets to see of a path. */
  const readAsNobody = (path: string) => {
    const { status, stdout } = spawnSync('cat', [path], { uid: NOBODY, gid: NOBODY, encoding: 'utf8' });
    return status === 0 ? stdout : null;
  };

  /** Calls `restrictDirectory` as another user than root. @returns what it complains of, or nothing. */
  const keepAsNobody = (call = `restrictDirectory(dataDir, 'keys')`) => {
    const module = (path: string) => JSON.stringify(new URL(`../../src/${path}`, import.meta.url).href);
    const program = `process.setgroups([]); process.setgid(${NOBODY}); process.setuid(${NOBODY});
      const [, dataDir] = process.argv; try { ${call}; } catch ({ message }) { console.log(message); }`;
    const script = `import { restrictDirectory } from ${module('infrastructure/private-data.ts')};
      import { makeDatabasePrivate } from ${module('adapters/mikro-orm/private-file.ts')}; ${program}`;
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script, dataDir], {
      encoding: 'utf8',
    });
    return `${stdout}${stderr}`.trim();
  };

  describe.runIf(isRoot)('with another user on the machine', () => {
    it('is read by nobody else any more', () => {
      loose();
      const file = within('keys', 'old', 'access.pem');
      expect(readAsNobody(file)).toBe('a key');
      restrictDirectory(dataDir, 'keys');
      expect(readAsNobody(file)).toBeNull();
      chmodSync(dataDir, 0o755);
      expect(readAsNobody(file)).toBeNull();
    });

    it('is refused where everybody may enter it and it is another’s', () => {
      loose();
      expect(keepAsNobody()).toContain('everybody may enter keys in it: its owner must set its mode to 700');
      expect([modeOf(dataDir), modeOf(within('keys'))]).toEqual(['755', '755']);
    });

    it('is refused where everybody may read the file of SQLite and it is another’s', () => {
      writeFileSync(within('database.sqlite'), 'a hash');
      chmodSync(within('database.sqlite'), 0o644);
      expect(keepAsNobody(`makeDatabasePrivate(dataDir + '/database.sqlite')`)).toContain(
        `everybody may use ${within('database.sqlite')}: its owner must set its mode to 600`,
      );
    });

    it('is taken as it is in a volume of another’s that its group may write to', () => {
      loose(0o770, 0o660);
      chmodSync(within('keys'), 0o770);
      for (const name of globSync('**', { cwd: within('keys') })) chownSync(within('keys', name), 0, NOBODY);
      expect(keepAsNobody()).toBe('');
      expect(modeOf(within('keys'))).toBe('770');
    });

    it('is closed below a DATA_DIR of another’s', () => {
      loose();
      for (const name of globSync('**', { cwd: within('keys') })) chownSync(within('keys', name), NOBODY, NOBODY);
      expect(keepAsNobody()).toBe('');
      expect([modeOf(dataDir), modeOf(within('keys'))]).toEqual(['755', '700']);
    });
  });
});
