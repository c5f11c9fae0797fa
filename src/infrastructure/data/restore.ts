import { existsSync } from 'node:fs';
import { link, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { openDatabase } from '../../adapters/mikro-orm/open-database.ts';
import { CommandError } from '../command-error.ts';
import { createOnce, isKeyOfFile, readIfAny } from '../keys.ts';
import { type CopyOptions, damaged, extractParts, unpack } from './backup.ts';
import { assertHasNoDatabase, assertNotNewer, countRows } from './databases.ts';

/**
 * Puts a backup where there is no database. Everything is written to a directory of its own and checked there, and gets its name at the end,
 * the database last. Its tables may be those of an older version: the next start brings them up to date.
 * @throws CommandError, and then nothing was changed.
 */
export const restore = async ({ database, dataDir, file, withKeys }: CopyOptions) => {
  const { path, tablePrefix } = database;
  assertHasNoDatabase(path);
  const draft = await mkdtemp(join(existing(dirname(path)), `${basename(path)}.restoring-`));
  try {
    const copy = join(draft, 'database.sqlite');
    await unpack(file, copy);
    const { takenAt, madeBy, keys: all } = extractParts(copy);
    const rows = countRows(copy, tablePrefix);
    const opened = await openDatabase({ ...database, path: copy }, { migrate: false });
    await assertNotNewer(opened, 'The backup').finally(opened.close);
    const keys = withKeys ? all : new Map<string, string>();
    assertUsable(keys);
    await assertFits(dataDir, keys);
    for (const [name, content] of keys) await createOnce(join(dataDir, name), content);
    // Another process may have made its own meanwhile.
    await assertFits(dataDir, keys);
    assertHasNoDatabase(path);
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await linkUnlessTaken(copy, path);
    return { database: path, takenAt, madeBy, rows, keys: [...keys.keys()] };
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
};

/** The nearest directory that exists: on the same disk, and nothing is left of it when the backup is refused. */
const existing = (path: string): string => (existsSync(path) ? path : existing(dirname(path)));

/** With a text that is no key, the service would not start. */
const assertUsable = (keys: ReadonlyMap<string, string>): void => {
  for (const [name, content] of keys)
    if (!isKeyOfFile(name, content)) throw damaged(`${name} in it is no key of the service`);
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
