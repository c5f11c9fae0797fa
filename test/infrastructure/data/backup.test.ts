// Proves operator-8
import { generateKeyPairSync } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { openDatabase } from '../../../src/adapters/mikro-orm/open-database.ts';
import { addManifest, backUp, pack, restore } from '../../../src/infrastructure/data/backup.ts';
import { KEY_FILES, newFactorKey, newPair, privatePem } from '../../../src/infrastructure/keys.ts';
import { fill } from '../../support/records/sample-rows.ts';
import { onSqlite } from '../../support/storage/databases.ts';
import { temporaryDirectory } from '../../support/storage/temporary-directory.ts';

const directory = temporaryDirectory();
const { newPath } = directory;
const databaseIn = (dataDir: string) => onSqlite(join(dataDir, 'database.sqlite'));
const KEYS: Readonly<Record<string, string>> = {
  [KEY_FILES.access.file]: privatePem(newPair().privateKey),
  [KEY_FILES.factors.file]: `${newFactorKey()}\n`,
  [KEY_FILES.hooks.file]: privatePem(generateKeyPairSync('ed25519').privateKey),
};
const USERS = 20;

/** A data directory with users and keys. */
const newDataDir = async (): Promise<string> => {
  const dataDir = newPath();
  mkdirSync(join(dataDir, 'keys'), { recursive: true });
  for (const [name, key] of Object.entries(KEYS)) writeFileSync(join(dataDir, name), key);
  const { records, close } = await openDatabase(databaseIn(dataDir), { migrate: true });
  await fill(records, USERS);
  await close();
  return dataDir;
};

const backUpOf = (dataDir: string, more: Partial<Parameters<typeof backUp>[0]> = {}) =>
  backUp({ database: databaseIn(dataDir), dataDir, file: `${newPath()}.gz`, withKeys: true, ...more });
const restoreTo = (dataDir: string, file: string, more: Partial<Parameters<typeof restore>[0]> = {}) =>
  restore({ database: databaseIn(dataDir), dataDir, file, withKeys: true, ...more });

/** Rows of a table, as SQLite has them. */
const rowsOf = (dataDir: string, table: string): unknown[] => {
  const database = new DatabaseSync(databaseIn(dataDir).path, { readOnly: true });
  const rows = database.prepare(`select * from ${table} order by 1`).all();
  database.close();
  return rows;
};
const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    (error) => error.code,
  );
/** Stores a row that violates its table, as only `pragma integrity_check` notices. */
const damage = (path: string): void => {
  const database = new DatabaseSync(path);
  database.exec('create table damaged (value integer check (value > 0)); pragma ignore_check_constraints = on');
  database.exec('insert into damaged values (-1)');
  database.close();
};
const tree = (path: string): string[] =>
  existsSync(path) ? readdirSync(path, { recursive: true, encoding: 'utf8' }).sort() : [];

let dataDir: string;
let backup: string;
beforeAll(async () => {
  dataDir = await newDataDir();
  ({ file: backup } = await backUpOf(dataDir));
});

describe('backUp and restore', () => {
  it('put all rows and keys into one file of their owner, and elsewhere again', async () => {
    expect([
      statSync(backup).mode & 0o777,
      readdirSync(dirname(backup)).filter((name) => name.includes('.part-')),
    ]).toEqual([0o600, []]);
    const elsewhere = newPath();
    const { rows, keys } = await restoreTo(elsewhere, backup);
    expect([rows.users, rows.sessions, keys.sort()]).toEqual([USERS, 2 * USERS, Object.keys(KEYS).sort()]);
    expect(tree(elsewhere)).toEqual(['database.sqlite', 'keys', ...Object.keys(KEYS)].sort());
    for (const [name, key] of Object.entries(KEYS)) expect(readFileSync(join(elsewhere, name), 'utf8')).toBe(key);
    for (const path of tree(elsewhere)) expect([path, statSync(join(elsewhere, path)).mode & 0o077]).toEqual([path, 0]);
    for (const table of ['users', 'sessions', 'events', 'outbox'])
      expect(rowsOf(elsewhere, table)).toEqual(rowsOf(dataDir, table));
    // No key is left in the file of the database.
    const content = readFileSync(databaseIn(elsewhere).path, 'latin1');
    for (const key of Object.values(KEYS)) expect(content).not.toContain(key.trim().slice(-40));
    expect(content).not.toContain('tandem_backup');
  });

  it('leave out the keys if they are told to', async () => {
    const { file, keys } = await backUpOf(dataDir, { withKeys: false });
    const [without, left] = [newPath(), newPath()];
    expect([keys, (await restoreTo(without, file)).keys]).toEqual([[], []]);
    expect((await restoreTo(left, backup, { withKeys: false })).keys).toEqual([]);
    expect([tree(without), tree(left)]).toEqual([['database.sqlite'], ['database.sqlite']]);
  });
});

describe('backUp', () => {
  it('replaces no file, makes none where there is no database, and leaves nothing', async () => {
    const place = newPath();
    mkdirSync(place);
    writeFileSync(join(place, 'taken'), 'precious');
    expect(await codeOf(backUpOf(dataDir, { file: join(place, 'taken') }))).toBe('file-exists');
    expect(await codeOf(backUpOf(newPath(), { file: join(place, 'none') }))).toBe('no-database');
    const prefixed = { ...databaseIn(dataDir), tablePrefix: 'shop_' };
    expect(await codeOf(backUpOf(dataDir, { file: join(place, 'none'), database: prefixed }))).toBe('no-tables');
    expect([tree(place), readFileSync(join(place, 'taken'), 'utf8')]).toEqual([['taken'], 'precious']);
  });

  it('makes no file of a database that is damaged', async () => {
    const damaged = await newDataDir();
    damage(databaseIn(damaged).path);
    const place = newPath();
    mkdirSync(place);
    await expect(backUpOf(damaged, { file: join(place, 'none') })).rejects.toThrow(
      'The copy of the database is damaged',
    );
    expect(tree(place)).toEqual([]);
  });
});

describe('restore', () => {
  it('touches nothing where there is a database, or a file that belongs to one, or where keys are others', async () => {
    for (const name of ['database.sqlite', 'database.sqlite-wal', 'database.sqlite-shm', 'database.sqlite-journal']) {
      const occupied = newPath();
      mkdirSync(occupied);
      writeFileSync(join(occupied, name), '');
      expect([name, await codeOf(restoreTo(occupied, backup))]).toEqual([name, 'database-exists']);
      expect(tree(occupied)).toEqual([name]);
    }
    const others = newPath();
    mkdirSync(join(others, 'keys'), { recursive: true });
    writeFileSync(join(others, KEY_FILES.factors.file), 'another key');
    expect(await codeOf(restoreTo(others, backup))).toBe('keys-differ');
    expect(tree(others)).toEqual(['keys', KEY_FILES.factors.file]);
    expect(await codeOf(restoreTo(others, backup, { withKeys: false }))).toBe('done');
  });

  it('lets one of two put a backup into the same place', async () => {
    const place = newPath();
    const codes = await Promise.all([codeOf(restoreTo(place, backup)), codeOf(restoreTo(place, backup))]);
    expect(codes.sort()).toEqual(['database-exists', 'done']);
    expect(tree(place)).toEqual(['database.sqlite', 'keys', ...Object.keys(KEYS)].sort());
    expect(rowsOf(place, 'users')).toHaveLength(USERS);
  });

  it('refuses a file that is cut, changed, or something else, and leaves nothing', async () => {
    const bytes = readFileSync(backup);
    const changed = Buffer.from(bytes);
    for (let at = Math.floor(bytes.length / 2), end = at + 1000; at < end; at += 1)
      changed.writeUInt8(changed.readUInt8(at) ^ 0xff, at);
    const files = {
      cut: bytes.subarray(0, bytes.length - 2000),
      changed,
      empty: Buffer.alloc(0),
      text: Buffer.from('users'),
      'packed text': gzipSync('users'),
      'a database without what belongs to a backup': gzipSync(readFileSync(databaseIn(dataDir).path)),
    };
    for (const [name, content] of Object.entries(files)) {
      const file = newPath();
      writeFileSync(file, content);
      const place = newPath();
      await expect(restoreTo(place, file), name).rejects.toThrow(/^This is no whole backup: .+\.$/);
      expect([name, existsSync(place)]).toEqual([name, false]);
    }
    expect(await codeOf(restoreTo(newPath(), newPath()))).toBe('ENOENT');
  });

  it('refuses a database without the tables, or of a newer version', async () => {
    const without = await backUpOf(dataDir);
    const prefixed = (place: string) => ({ database: { ...databaseIn(place), tablePrefix: 'shop_' } });
    const place = newPath();
    expect(await codeOf(restoreTo(place, without.file, prefixed(place)))).toBe('no-tables');
    const newer = await newDataDir();
    const database = new DatabaseSync(databaseIn(newer).path);
    database.exec(`insert into tandem_migrations values ('9999-later')`);
    database.close();
    expect(await codeOf(restoreTo(place, (await backUpOf(newer)).file))).toBe('other-version');
    expect(existsSync(place)).toBe(false);
  });

  /** A backup with these parts. @param change what else is done to the database in it */
  const aBackup = async (keys: Readonly<Record<string, string>>, change = (_copy: string): void => undefined) => {
    const [copy, file] = [newPath(), newPath()];
    await (await openDatabase(onSqlite(copy), { migrate: true })).close();
    addManifest(copy, { takenAt: '2026-11-22T00:00:00.000Z', madeBy: '1.0.0', keys: new Map(Object.entries(keys)) });
    change(copy);
    await pack(copy, file);
    return file;
  };

  it('refuses a database that is damaged', async () => {
    const place = newPath();
    await expect(restoreTo(place, await aBackup({}, damage))).rejects.toMatchObject({ code: 'not-a-backup' });
    expect(existsSync(place)).toBe(false);
  });

  it.each([
    ['that is none', KEY_FILES.access.file, 'no key'],
    ['of an app in the place of one of tokens', KEY_FILES.refresh.file, KEYS[KEY_FILES.factors.file] ?? ''],
    ['of tokens in the place of one of apps', KEY_FILES.factors.file, KEYS[KEY_FILES.access.file] ?? ''],
  ])('refuses a key %s, unless the keys are left out', async (_what, name, key) => {
    const place = join(newPath(), 'deep');
    const file = await aBackup({ ...KEYS, [name]: key });
    expect(await codeOf(restoreTo(place, file))).toBe('not-a-backup');
    expect(existsSync(dirname(place))).toBe(false);
    expect(await codeOf(restoreTo(place, file, { withKeys: false }))).toBe('done');
  });

  it('writes no file but keys, wherever the name of another leads', async () => {
    const place = join(newPath(), 'data');
    const file = await aBackup({ ...KEYS, 'keys/other.pem': 'x', '../outside.pem': 'x' });
    expect((await restoreTo(place, file)).keys.sort()).toEqual(Object.keys(KEYS).sort());
    expect(tree(dirname(place)).filter((name) => /other|outside/.test(name))).toEqual([]);
  });
});
