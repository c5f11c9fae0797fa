import { randomUUID } from 'node:crypto';
import { type FileHandle, link, lstat, open, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Refusal } from '../refusal.ts';

/**
 * Writes a file that only its owner can read, or none. It gets its name when it is whole and stored, and replaces no other file.
 * A process that is killed leaves a file whose name ends with `.partial`.
 * @throws Refusal when there is a file with this name.
 */
export const writeNewFile = async (path: string, write: (file: FileHandle) => Promise<void>): Promise<void> => {
  const draft = `${path}.${randomUUID()}.partial`;
  const file = await open(draft, 'wx+', 0o600);
  try {
    await write(file);
    await file.sync();
    await link(draft, path).catch((error: unknown) => {
      throw isCode(error, 'EEXIST') ? taken(path) : error;
    });
  } finally {
    await file.close();
    await rm(draft, { force: true });
  }
  await syncDirectory(dirname(path));
};

/** @throws Refusal when there is a file with this name. */
export const assertNew = async (path: string): Promise<void> => {
  const found = await lstat(path).catch((error: unknown) => {
    if (isCode(error, 'ENOENT')) return null;
    throw error;
  });
  if (found !== null) throw taken(path);
};

const taken = (path: string): Refusal => new Refusal('file-exists', `${path} exists, and is not replaced.`);

const isCode = (error: unknown, code: string): boolean => error instanceof Error && Reflect.get(error, 'code') === code;

/** Stores the names in a directory, also if the power fails. */
export const syncDirectory = async (path: string): Promise<void> => {
  // Windows cannot open a directory.
  if (process.platform === 'win32') return;
  const directory = await open(path, 'r');
  await directory.sync().finally(() => directory.close());
};
