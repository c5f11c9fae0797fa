import { existsSync } from 'node:fs';
import { link, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { SqliteOptions } from '../../adapters/mikro-orm/options.ts';
import { CommandError } from '../command-error.ts';
import { ALL_KEY_FILES, readIfAny } from '../keys/keys.ts';
import { addParts, pack } from './backup-file.ts';
import { assertHasDatabase, countRows, withDatabase } from './database-file.ts';

/** What is copied, and where to or from. */
export type CopyOptions = {
  readonly database: SqliteOptions;
  /** Where the keys are. */
  readonly dataDir: string;
  /** The backup. */
  readonly file: string;
  readonly withKeys: boolean;
};

/**
 * Copies a database, which processes may use, and the keys in DATA_DIR into a new file that only its owner can read. It gets its name when it
 * is whole. Meanwhile a directory beside it has up to twice the size of the database.
 * @returns among others `takenAt` (it contains everything that was committed until then), the rows of each table,
 * and the names of the keys in it.
 * @throws CommandError; Error of the system or of SQLite, and then there is no file.
 */
export const backUp = async ({ database: { path, tablePrefix }, dataDir, file, withKeys }: CopyOptions) => {
  const place = resolve(file);
  if (existsSync(place)) throw taken(place);
  assertHasDatabase(path);
  const takenAt = new Date().toISOString();
  const draft = await mkdtemp(`${place}.part-`);
  try {
    const [copy, packed] = [join(draft, 'database.sqlite'), join(draft, 'packed')];
    await copyDatabase(path, copy);
    const rows = countRows(copy, tablePrefix);
    const keys = withKeys ? await keysOf(dataDir) : new Map<string, string>();
    addParts(copy, { takenAt, keys });
    await pack(copy, packed);
    const { size: bytes } = await stat(packed);
    await link(packed, place);
    return { file: place, bytes, takenAt, rows, keys: [...keys.keys()] };
  } catch (error) {
    throw existsSync(place) ? taken(place) : error;
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
};

const taken = (path: string): CommandError => new CommandError('file-exists', `${path} exists, and is not replaced.`);

/**
 * One statement that reads one snapshot, whatever is written meanwhile, and blocks nobody. `backup()` of `node:sqlite` copies some pages at a
 * time, and begins anew whenever another process has written. Rows that were deleted are not in the copy.
 */
const copyDatabase = async (path: string, copy: string): Promise<void> => {
  await writeFile(copy, '', { flag: 'wx', mode: 0o600 });
  withDatabase(path, (database) => void database.prepare('vacuum into ?').run(copy));
};

const keysOf = async (dataDir: string): Promise<Map<string, string>> => {
  const keys = new Map<string, string>();
  for (const name of ALL_KEY_FILES) {
    const key = await readIfAny(join(dataDir, name));
    if (key !== null) keys.set(name, key);
  }
  return keys;
};
