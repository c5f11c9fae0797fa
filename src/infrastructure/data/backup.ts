import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { link, mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { systemClock } from '../../adapters/clock/system.ts';
import { openDatabase } from '../../adapters/mikro-orm/open-database.ts';
import type { SqliteOptions } from '../../adapters/mikro-orm/options.ts';
import { CommandError, fileExistsError } from '../command-error.ts';
import { ALL_KEY_FILES, createOnce, readIfAny } from '../keys.ts';
import { VERSION } from '../version.ts';
import {
  assertHasDatabase,
  assertHasNoDatabase,
  assertNotNewer,
  countRows,
  isDamaged,
  withDatabase,
} from './databases.ts';

export type CopyOptions = {
  readonly database: SqliteOptions;
  readonly dataDir: string;
  readonly file: string;
  readonly withKeys: boolean;
};

/**
 * What a backup has in a table beside the tables of the database. `takenAt`: the backup has all commits until this time (ISO 8601); `madeBy`: the version
 * of Tandem that made the backup; `keys`: secret keys by their path below DATA_DIR. The whole file is compressed by gzip, which adds a checksum.
 */
type Manifest = { readonly takenAt: string; readonly madeBy: string; readonly keys: ReadonlyMap<string, string> };

const MANIFEST = 'tandem_backup';

/**
 * Copies a database, also while processes use it, and with `withKeys` the keys in DATA_DIR, into a new file that only its owner can read. Until then, a
 * directory beside the file takes up to about twice the size of the database. An error leaves no new file.
 * @throws CommandError; Error of the operating system or of SQLite
 */
export const backUp = async ({ database: { path, tablePrefix }, dataDir, file, withKeys }: CopyOptions) => {
  const target = resolve(file);
  if (existsSync(target)) throw fileExistsError(target);
  assertHasDatabase(path);
  const takenAt = new Date(systemClock.now()).toISOString();
  const draft = await mkdtemp(`${target}.part-`);
  try {
    const [copy, archive] = [join(draft, 'database.sqlite'), join(draft, 'packed')];
    await writeFile(copy, '', { flag: 'wx', mode: 0o600 });
    // This statement copies a snapshot without blocking writers. `backup()` of `node:sqlite` would start again whenever another process has written.
    withDatabase(path, (database) => void database.prepare('vacuum into ?').run(copy));
    const rows = countRows(copy, tablePrefix);
    const keys = withKeys ? await keysOf(dataDir) : new Map<string, string>();
    addManifest(copy, { takenAt, madeBy: VERSION, keys });
    await pack(copy, archive);
    const { size: bytes } = await stat(archive);
    await link(archive, target);
    return { file: target, bytes, takenAt, rows, keys: [...keys.keys()] };
  } catch (error) {
    throw existsSync(target) ? fileExistsError(target) : error;
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
};

const keysOf = async (dataDir: string): Promise<Map<string, string>> => {
  const keys = new Map<string, string>();
  for (const { file } of ALL_KEY_FILES) {
    const key = await readIfAny(join(dataDir, file));
    if (key !== null) keys.set(file, key);
  }
  return keys;
};

export const addManifest = (copy: string, { keys, ...about }: Manifest): void =>
  withDatabase(copy, (database) => {
    database.exec(`create table ${MANIFEST} (name text primary key, content text not null) strict`);
    const insert = database.prepare(`insert into ${MANIFEST} values (?, ?)`);
    for (const [name, content] of [...Object.entries(about), ...keys]) insert.run(name, content);
    if (isDamaged(database)) throw new Error('The copy of the database is damaged: SQLite finds errors in it.');
  });

/** Reads the manifest of an unpacked backup, and removes it from the database. @throws CommandError if the backup is incomplete or damaged; Error of SQLite */
const takeManifest = (copy: string): Manifest => {
  try {
    return withDatabase(copy, (database) => {
      if (isDamaged(database)) throw damagedBackup('SQLite finds errors in it');
      const rows = database.prepare(`select name, content from ${MANIFEST}`).all();
      const texts = new Map(rows.map(({ name, content }) => [String(name), String(content)]));
      // These settings keep the removed keys out of unused pages and of a journal on the disk.
      database.exec(`pragma journal_mode = memory; pragma secure_delete = on; drop table ${MANIFEST}; vacuum`);
      const keys = new Map([...texts].filter(([name]) => ALL_KEY_FILES.some(({ file }) => file === name)));
      return { takenAt: texts.get('takenAt') ?? '', madeBy: texts.get('madeBy') ?? '', keys };
    });
  } catch (error) {
    throw isUnreadable(error) ? damagedBackup('it has no database of a backup') : error;
  }
};

/** Primary result codes (https://sqlite.org/rescode.html): SQLITE_ERROR for a missing table, SQLITE_CORRUPT, SQLITE_NOTADB. */
const UNREADABLE: readonly unknown[] = [1, 11, 26];
const isUnreadable = (error: unknown): boolean =>
  error instanceof Error && UNREADABLE.includes(Number(Reflect.get(error, 'errcode')) & 0xff);

const damagedBackup = (problem: string) => new CommandError('not-a-backup', `This is no whole backup: ${problem}.`);

/** A stream to a new file that only its owner can read. It ends when the file is on the disk. */
const newFile = (path: string) => createWriteStream(path, { flags: 'wx', mode: 0o600, flush: true });

export const pack = (copy: string, file: string) => pipeline(createReadStream(copy), createGzip(), newFile(file));

/** @throws CommandError if the file is not compressed by gzip, or is damaged; Error of the operating system */
const unpack = async (file: string, copy: string): Promise<void> => {
  try {
    await pipeline(createReadStream(file), createGunzip(), newFile(copy));
  } catch (error) {
    // Errors of zlib have codes such as Z_DATA_ERROR.
    if (error instanceof Error && /^Z_/.test(String(Reflect.get(error, 'code'))))
      throw damagedBackup('it cannot be read');
    throw error;
  }
};

/**
 * Restores a backup if there is no database yet. It is unpacked and checked in a new directory. At the end, the keys are written if `withKeys` is set, and
 * then the database is linked to its place. Tables of an older version stay as they are: `npx tandem migrate` brings them up to date.
 * @throws CommandError; Error of the operating system or of SQLite
 */
export const restore = async ({ database, dataDir, file, withKeys }: CopyOptions) => {
  const { path, tablePrefix } = database;
  assertHasNoDatabase(path);
  const draft = await mkdtemp(join(nearestExisting(dirname(path)), `${basename(path)}.restoring-`));
  try {
    const copy = join(draft, 'database.sqlite');
    await unpack(file, copy);
    const { takenAt, madeBy, keys: all } = takeManifest(copy);
    const rows = countRows(copy, tablePrefix);
    const opened = await openDatabase({ ...database, path: copy }, { migrate: false });
    await assertNotNewer(opened, 'The backup').finally(opened.close);
    const keys = withKeys ? all : new Map<string, string>();
    assertValidKeys(keys);
    await assertNoOtherKeys(dataDir, keys);
    for (const [name, content] of keys) await createOnce(join(dataDir, name), content);
    // Checked again, since another process may have made other keys meanwhile.
    await assertNoOtherKeys(dataDir, keys);
    assertHasNoDatabase(path);
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    // To link a file is atomic, and never replaces another file.
    await link(copy, path).catch((error: unknown) => {
      assertHasNoDatabase(path);
      throw error;
    });
    return { database: path, takenAt, madeBy, rows, keys: [...keys.keys()] };
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
};

/** The path, or the nearest directory above it that exists. The draft is made there, on the disk of the database, so that a refusal leaves no directory. */
const nearestExisting = (path: string): string => (existsSync(path) ? path : nearestExisting(dirname(path)));

/** Refuses a backup with an unreadable key, since the service would refuse the key. */
const assertValidKeys = (keys: ReadonlyMap<string, string>): void => {
  for (const { file, parse } of ALL_KEY_FILES)
    if (keys.has(file) && parse(keys.get(file) ?? '') === null)
      throw damagedBackup(`${file} in it is no key of the service`);
};

/** Refuses a backup whose keys differ from those in DATA_DIR, since a key that is replaced would be lost. */
const assertNoOtherKeys = async (dataDir: string, keys: ReadonlyMap<string, string>): Promise<void> => {
  for (const [name, content] of keys) {
    const present = await readIfAny(join(dataDir, name));
    if (present === null || present === content) continue;
    const advice = `Move ${join(dataDir, 'keys')} away, or leave out those of the backup with --without-keys.`;
    throw new CommandError('keys-differ', `DATA_DIR has another ${name} than the backup. ${advice}`);
  }
};
