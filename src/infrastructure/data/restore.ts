import { link, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { openDatabase } from '../../adapters/mikro-orm/open-database.ts';
import { CommandError } from '../command-error.ts';
import { createOnce, readIfAny } from '../keys.ts';
import { type CopyOptions, extractParts, unpack } from './backup.ts';
import { assertHasNoDatabase, assertNotNewer, countRows } from './databases.ts';

/**
 * Puts a backup where there is no database. Everything is written to a directory beside it and checked there, and gets its name at the end,
 * the database last. Its tables may be those of an older version: the next start brings them up to date.
 * @throws CommandError, and then nothing was changed.
 */
export const restore = async ({ database, dataDir, file, withKeys }: CopyOptions) => {
  const { path, tablePrefix } = database;
  assertHasNoDatabase(path);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const draft = await mkdtemp(`${path}.restoring-`);
  try {
    const copy = join(draft, 'database.sqlite');
    await unpack(file, copy);
    const { takenAt, madeBy, keys: all } = extractParts(copy);
    const rows = countRows(copy, tablePrefix);
    const opened = await openDatabase({ ...database, path: copy }, { migrate: false });
    await assertNotNewer(opened, 'The backup').finally(opened.close);
    const keys = withKeys ? all : new Map<string, string>();
    await assertFits(dataDir, keys);
    for (const [name, content] of keys) await createOnce(join(dataDir, name), content);
    // Another process may have made its own meanwhile.
    await assertFits(dataDir, keys);
    assertHasNoDatabase(path);
    await linkUnlessTaken(copy, path);
    return { database: path, takenAt, madeBy, rows, keys: [...keys.keys()] };
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
};

/** Other keys would log everybody out, and to replace them could lose them. */
const assertFits = async (dataDir: string, keys: ReadonlyMap<string, string>): Promise<void> => {
  for (const [name, content] of keys) {
    const present = await readIfAny(join(dataDir, name));
    if (present === null || present === content) continue;
    const advice = `Move ${join(dataDir, 'keys')} away, or leave out those of the backup with --without-keys.`;
    throw new CommandError('keys-differ', `DATA_DIR has another ${name} than the backup. ${advice}`);
  }
};

/** A link is atomic, and replaces nothing. @throws CommandError when another process was first */
const linkUnlessTaken = (copy: string, path: string): Promise<void> =>
  link(copy, path).catch((error: unknown) => {
    assertHasNoDatabase(path);
    throw error;
  });
