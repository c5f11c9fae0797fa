import { existsSync } from 'node:fs';
import { link, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { CommandError } from '../command-error.ts';
import { lockDataDir, RESTORING } from '../data-dir/data-dir-lock.ts';
import { makePrivate } from '../data-dir/private-data.ts';
import { openDatabase } from '../database/database.ts';
import { ALL_KEY_FILES } from '../keys/keys.ts';
import { type Backup, packBackup, readBackup } from './archive.ts';
import { takeDump } from './dump.ts';
import { assertKnown, assertNotInUse, countRows, type RowCounts, sendOver } from './tables.ts';

type CopyOptions = { readonly dataDir: string; readonly file: string; readonly withKeys: boolean };

/**
 * Copies the embedded database of DATA_DIR, and the keys beside it, into a new file that only its owner can read. It needs three times the
 * size of the database in memory.
 * @returns among others `takenAt` (it contains everything that was committed until then), `live` (whether a running service made the dump),
 *   and the names of the keys in it.
 * @throws CommandError; Error of the system, and then there is no file.
 */
export const backUp = async ({ dataDir, file, withKeys }: CopyOptions) => {
  const path = resolve(file);
  if (existsSync(path)) throw taken(path);
  const takenAt = new Date().toISOString();
  const { database, live } = await takeDump(dataDir);
  const keys = withKeys ? await keysOf(dataDir) : new Map<string, Buffer>();
  const content = await packBackup({ takenAt, keys, database });
  await writeNewFile(path, content);
  return { file: path, bytes: content.length, takenAt, live, keys: [...keys.keys()] };
};

const taken = (path: string): CommandError => new CommandError('file-exists', `${path} exists, and is not replaced.`);

const keysOf = async (dataDir: string): Promise<Map<string, Buffer>> => {
  const keys = new Map<string, Buffer>();
  for (const name of ALL_KEY_FILES)
    if (existsSync(join(dataDir, name))) keys.set(name, await readFile(join(dataDir, name)));
  return keys;
};

/** Writes a file, reads it again, and only then gives it its name. */
const writeNewFile = async (path: string, content: Buffer): Promise<void> => {
  const draft = `${path}.${process.pid}`;
  try {
    await writeFile(draft, content, { flag: 'wx', mode: 0o600, flush: true });
    await readBackup(draft);
    await link(draft, path);
  } catch (error) {
    throw existsSync(path) ? taken(path) : error;
  } finally {
    await rm(draft, { force: true });
  }
};

/**
 * Puts a backup into a DATA_DIR without a database. Everything is written to a directory of its own, opened and counted there, and gets
 * its names at the end, the database last.
 * @returns the rows of each table and the names of the keys that DATA_DIR now has from the backup.
 * @throws CommandError, and then nothing was changed.
 */
export const restore = async ({ dataDir, file, withKeys }: CopyOptions) => {
  const backup = await readBackup(file);
  const keys: Backup['keys'] = withKeys ? backup.keys : new Map();
  assertNotInUse(dataDir);
  const unlock = lockDataDir(dataDir);
  try {
    await assertFits(dataDir, keys);
    const rows = await unpack(backup.database, dataDir);
    await putInPlace(dataDir, keys);
    return { dataDir, takenAt: backup.takenAt, madeBy: backup.tandem, rows, keys: [...keys.keys()] };
  } finally {
    await rm(join(dataDir, RESTORING), { recursive: true, force: true });
    unlock();
  }
};

/** Other keys would log everybody out, and to replace them could lose them. */
const assertFits = async (dataDir: string, keys: Backup['keys']): Promise<void> => {
  const database = join(dataDir, 'database');
  if (existsSync(database) && (await readdir(database)).length > 0)
    throw new CommandError(
      'database-exists',
      `DATA_DIR has a database. Move ${database} away, or use another DATA_DIR.`,
    );
  for (const [name, content] of keys) {
    const path = join(dataDir, name);
    if (existsSync(path) && !(await readFile(path)).equals(content))
      throw new CommandError(
        'keys-differ',
        `DATA_DIR has another ${name} than the backup. Move ${join(dataDir, 'keys')} away, or leave out those of the backup with --without-keys.`,
      );
  }
};

/** Unpacks the database beside its place, and lets PostgreSQL open it. What an earlier restore left there is removed. */
const unpack = async (dump: Buffer, dataDir: string): Promise<RowCounts> => {
  const draft = join(dataDir, RESTORING);
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { mode: 0o700 });
  const { em, close } = await openDatabase({ kind: 'embedded', dataDir: draft }, { migrate: false, dump });
  const send = sendOver(em.getKysely());
  try {
    await assertKnown(send);
    return await countRows(send);
  } finally {
    await close();
  }
};

/** A key that is there already is the same. */
const putInPlace = async (dataDir: string, keys: Backup['keys']): Promise<void> => {
  const draft = join(dataDir, RESTORING);
  if (keys.size > 0) makePrivate(dataDir, 'keys');
  for (const [name, content] of keys) {
    await writeFile(join(draft, 'key'), content, { mode: 0o600 });
    await rename(join(draft, 'key'), join(dataDir, name));
  }
  // An empty directory is replaced.
  await rename(join(draft, 'database'), join(dataDir, 'database'));
};
