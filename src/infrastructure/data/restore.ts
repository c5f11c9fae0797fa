import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CommandError } from '../command-error.ts';
import { lockDataDir, RESTORING } from '../data-dir/data-dir-lock.ts';
import { makePrivate } from '../data-dir/private-data.ts';
import { openDatabase } from '../database/database.ts';
import { type Backup, type CopyOptions, readBackup } from './archive.ts';
import { assertKnown, assertNotInUse, countRows, type RowCounts, sendOver } from './tables.ts';

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
