import { existsSync } from 'node:fs';
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { CommandError } from '../command-error.ts';
import { ALL_KEY_FILES } from '../keys/keys.ts';
import { type CopyOptions, packBackup, readBackup } from './archive.ts';
import { takeDump } from './dump.ts';

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
