import { link, mkdir, mkdtemp, rm, rmdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { openDatabase } from '../../adapters/mikro-orm/open-database.ts';
import type { SqliteOptions } from '../../adapters/mikro-orm/options.ts';
import { CommandError } from '../command-error.ts';
import { makePrivate } from '../data-dir/private-data.ts';
import { readIfAny } from '../keys/keys.ts';
import type { CopyOptions } from './backup.ts';
import { type Parts, takeParts, unpack } from './backup-file.ts';
import { assertHasNoDatabase, countRows } from './database-file.ts';
import { noTables, schemaOf } from './schema-check.ts';

/**
 * Puts a backup where there is no database. Everything is written to a directory beside it and checked there, and gets its name at the end,
 * the database last.
 * @returns among others the rows of each table, and the names of the keys that DATA_DIR now has from the backup.
 * @throws CommandError, and then nothing was changed.
 */
export const restore = async ({ database, dataDir, file, withKeys }: CopyOptions) => {
  const { path, tablePrefix } = database;
  assertHasNoDatabase(path);
  const place = dirname(path);
  const made = await mkdir(place, { recursive: true, mode: 0o700 });
  const draft = await mkdtemp(`${path}.restoring-`);
  try {
    const copy = join(draft, 'database.sqlite');
    await unpack(file, copy);
    const { tandem, takenAt, keys: all } = takeParts(copy);
    await assertKnown({ ...database, path: copy });
    const rows = countRows(copy, tablePrefix);
    const keys: Parts['keys'] = withKeys ? all : new Map();
    await assertFits(dataDir, keys);
    await putKeys(keys, dataDir, draft);
    assertHasNoDatabase(path);
    await linkUnlessTaken(copy, path);
    return { database: path, takenAt, madeBy: tandem, rows, keys: [...keys.keys()] };
  } finally {
    await rm(draft, { recursive: true, force: true });
    if (made !== undefined) await removeEmpty(place, made);
  }
};

/** The tables may be those of an older version: the next start brings them up to date. @throws CommandError */
const assertKnown = async (copy: SqliteOptions): Promise<void> => {
  const opened = await openDatabase(copy, { migrate: false });
  try {
    const { hasTables } = await schemaOf(opened, 'The backup');
    if (!hasTables) throw noTables('The backup');
  } finally {
    await opened.close();
  }
};

/** Other keys would log everybody out, and to replace them could lose them. */
const assertFits = async (dataDir: string, keys: Parts['keys']): Promise<void> => {
  for (const [name, content] of keys) {
    const present = await readIfAny(join(dataDir, name));
    if (present !== null && present !== content)
      throw new CommandError(
        'keys-differ',
        `DATA_DIR has another ${name} than the backup. Move ${join(dataDir, 'keys')} away, or leave out those of the backup with --without-keys.`,
      );
  }
};

/** A key that is there already is the same. */
const putKeys = async (keys: Parts['keys'], dataDir: string, draft: string): Promise<void> => {
  if (keys.size === 0) return;
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  makePrivate(dataDir, 'keys');
  for (const [name, content] of keys) {
    const written = join(draft, 'key');
    await writeFile(written, content, { mode: 0o600, flush: true });
    await link(written, join(dataDir, name)).catch(unlessItExists);
    await rm(written);
  }
  await assertFits(dataDir, keys);
};

const unlessItExists = (error: unknown): void => {
  if (!(error instanceof Error && Reflect.get(error, 'code') === 'EEXIST')) throw error;
};

/** A link is atomic, and replaces nothing. @throws CommandError when another process was first */
const linkUnlessTaken = (copy: string, path: string): Promise<void> =>
  link(copy, path).catch((error: unknown) => {
    assertHasNoDatabase(path);
    throw error;
  });

/** Removes directories that were made, up to the outermost, unless something is in them. */
const removeEmpty = async (innermost: string, outermost: string): Promise<void> => {
  for (let path = innermost; path.startsWith(outermost); path = dirname(path)) {
    const isRemoved = await rmdir(path).then(
      () => true,
      () => false,
    );
    if (!isRemoved) return;
  }
};
