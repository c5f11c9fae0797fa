import { existsSync } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { lockDataDir, lockHolder } from '../data-dir/data-dir-lock.ts';
import { makePrivate } from '../data-dir/private-data.ts';
import { RESTORING } from '../data-dir/restoring.ts';
import { openDatabase } from '../database/database.ts';
import { KEY_FILES } from '../keys/keys.ts';
import { Refusal } from '../refusal.ts';
import { compareMigrations } from '../tables/migrations.ts';
import { type Counts, countRows } from '../tables/tables.ts';
import { DATABASE, KEYS } from './archive.ts';
import { syncDirectory } from './new-file.ts';
import { type Contents, readArchive, type Visitor } from './read-archive.ts';

export type RestoreReport = {
  readonly dataDir: string;
  readonly endedAt: string;
  /** The version of Tandem that made the backup. */
  readonly madeBy: string;
  readonly rows: Counts;
  /** The private keys that DATA_DIR now has from the backup. */
  readonly keys: readonly string[];
  /** Migrations that the next start applies. */
  readonly pending: readonly string[];
};

type Options = {
  readonly dataDir: string;
  readonly file: string;
  readonly withKeys: boolean;
  readonly signal: AbortSignal;
};

/**
 * Puts a backup into a DATA_DIR without a database. Everything is written to a directory of its own, opened and counted there, and gets
 * its names at the end, the database last.
 * @throws Refusal, and then nothing was changed.
 */
export const restore = async ({ dataDir, file, withKeys, signal }: Options): Promise<RestoreReport> => {
  const source = await open(file, 'r');
  try {
    await assertFree(dataDir);
    const keys = new Map<string, Buffer>();
    const contents = await readArchive(source, keysInto(keys), signal);
    assertKnown(contents);
    if (!withKeys) keys.clear();
    await assertKeysFit(dataDir, keys);
    const unlock = lockDataDir(dataDir);
    try {
      await assertFree(dataDir, { locked: true });
      const rows = await unpack(source, dataDir, signal);
      await putInPlace(dataDir, keys);
      const { pending } = compareMigrations(contents.migrations);
      return { dataDir, endedAt: contents.endedAt, madeBy: contents.tandem, rows, keys: [...keys.keys()], pending };
    } finally {
      await rm(join(dataDir, RESTORING), { recursive: true, force: true });
      unlock();
    }
  } finally {
    await source.close();
  }
};

const assertFree = async (dataDir: string, { locked = false } = {}): Promise<void> => {
  const stats = await lstat(dataDir).catch(() => null);
  if (stats === null) return;
  if (process.geteuid?.() === 0 && stats.uid !== 0)
    throw new Refusal('other-user', `DATA_DIR (${dataDir}) belongs to another user than root. Run this as that user.`);
  const holder = locked ? null : lockHolder(dataDir);
  if (holder !== null)
    throw new Refusal('in-use', `Process ${holder} uses DATA_DIR (${dataDir}). Stop the service first.`);
  const entries = await readdir(join(dataDir, DATABASE)).catch((error: unknown) => {
    if (error instanceof Error && Reflect.get(error, 'code') === 'ENOENT') return [];
    throw error;
  });
  if (entries.length > 0)
    throw new Refusal(
      'database-exists',
      `DATA_DIR (${dataDir}) has a database. Move ${join(dataDir, DATABASE)} away, or use another DATA_DIR.`,
    );
};

const keysInto = (keys: Map<string, Buffer>): Visitor => ({
  file: async ({ name, chunks }) => {
    if (!name.startsWith(`${KEYS}/`)) return;
    if (!Object.values<string>(KEY_FILES).includes(name)) throw new Refusal('not-a-backup', 'It has an unknown key.');
    const parts: Uint8Array[] = [];
    for await (const chunk of chunks) parts.push(chunk);
    keys.set(name, Buffer.concat(parts));
  },
});

const assertKnown = ({ migrations, tandem }: Contents): void => {
  if (compareMigrations(migrations).unknown.length === 0) return;
  throw new Refusal(
    'newer-version',
    `This backup was made by Tandem ${tandem}, whose tables this version does not know.`,
  );
};

/** Other keys would log everybody out, and to replace them could lose them. */
const assertKeysFit = async (dataDir: string, keys: ReadonlyMap<string, Buffer>): Promise<void> => {
  for (const [name, content] of keys) {
    const path = join(dataDir, name);
    if (existsSync(path) && !(await readFile(path)).equals(content))
      throw new Refusal(
        'keys-differ',
        `DATA_DIR has another ${name} than the backup. Move ${join(dataDir, KEYS)} away, or leave out those of the backup with --without-keys.`,
      );
  }
};

/** Unpacks the database beside its place, and lets PostgreSQL open it. What an earlier restore left there is removed. */
const unpack = async (source: FileHandle, dataDir: string, signal: AbortSignal): Promise<Counts> => {
  const draft = join(dataDir, RESTORING);
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { mode: 0o700 });
  await readArchive(source, databaseInto(draft), signal);
  const { em, close } = await openDatabase({ kind: 'embedded', dataDir: draft }, { migrate: false });
  const rows = await countRows(em).finally(close);
  signal.throwIfAborted();
  await syncTree(join(draft, DATABASE));
  return rows;
};

const databaseInto = (draft: string): Visitor => {
  const isOfDatabase = (name: string) => name === DATABASE || name.startsWith(`${DATABASE}/`);
  return {
    directory: async (name) => {
      if (isOfDatabase(name)) await mkdir(join(draft, name), { mode: 0o700 });
    },
    file: async ({ name, chunks }) => {
      if (isOfDatabase(name)) await writeFile(join(draft, name), chunks, { mode: 0o600, flag: 'wx' });
    },
  };
};

const syncTree = async (directory: string): Promise<void> => {
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) await syncTree(path);
    else {
      const file = await open(path, 'r+');
      await file.sync().finally(() => file.close());
    }
  }
  await syncDirectory(directory);
};

const putInPlace = async (dataDir: string, keys: ReadonlyMap<string, Buffer>): Promise<void> => {
  if (keys.size > 0) makePrivate(dataDir, 'keys');
  for (const [name, content] of keys) await placeKey(join(dataDir, RESTORING, 'key'), join(dataDir, name), content);
  if (keys.size > 0) await syncDirectory(join(dataDir, KEYS));
  // An empty directory is replaced.
  await rename(join(dataDir, RESTORING, DATABASE), join(dataDir, DATABASE));
  await syncDirectory(dataDir);
};

/** One that is there is the same. */
const placeKey = async (draft: string, path: string, content: Buffer): Promise<void> => {
  if (existsSync(path)) return;
  const file = await open(draft, 'w', 0o600);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(draft, path);
};
