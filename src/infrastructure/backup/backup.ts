import { realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { KEY_FILES } from '../keys/keys.ts';
import { Refusal } from '../refusal.ts';
import { VERSION } from '../version.ts';
import { DATABASE, FORMAT } from './archive.ts';
import { type CopySource, openSource } from './copy-source.ts';
import { databaseFiles, openFile, walFiles } from './database-files.ts';
import { chunksOf } from './file-chunks.ts';
import { assertNew, writeNewFile } from './new-file.ts';
import type { CopyStart } from './online-copy.ts';
import { readArchive } from './read-archive.ts';
import { type ArchiveWriter, writeArchive } from './write-archive.ts';

export type BackupReport = {
  readonly file: string;
  /** Of the file. */
  readonly bytes: number;
  /** ISO 8601: what was committed until then is in the backup. */
  readonly endedAt: string;
  /** Whether the service had the database meanwhile. */
  readonly live: boolean;
  /** The private keys in it. */
  readonly keys: readonly string[];
};

type Options = {
  readonly dataDir: string;
  readonly file: string;
  readonly withKeys: boolean;
  readonly signal: AbortSignal;
};

/**
 * Copies the embedded database of DATA_DIR, and the keys beside it, into a new file. When it has the file, it has also read it again.
 * @throws Refusal; Error of the system, and then there is no file.
 */
export const backUp = async ({ dataDir, file, withKeys, signal }: Options): Promise<BackupReport> => {
  const path = await placeOf(file, dataDir);
  await assertNew(path);
  const source = await openSource(dataDir);
  try {
    let report: BackupReport | undefined;
    await writeNewFile(path, async (target) => {
      const start = await source.begin();
      const about = { format: FORMAT, tandem: VERSION, migrations: start.migrations };
      const keys: string[] = [];
      const fill = async (archive: ArchiveWriter) => {
        if (withKeys) keys.push(...(await addKeys(archive, dataDir)));
        return addDatabase(archive, { directory: join(dataDir, DATABASE), source, start });
      };
      await writeArchive(target, about, fill, AbortSignal.any([signal, source.lost])).catch((error: unknown) => {
        throw source.lost.aborted ? source.lost.reason : error;
      });
      const { endedAt } = await readArchive(target, { file: async () => undefined }, signal);
      const { size } = await target.stat();
      report = { file: path, bytes: size, endedAt, live: source.live, keys };
    });
    if (report === undefined) throw new Error('nothing was written');
    return report;
  } finally {
    await source.close();
  }
};

/** A file within the database would become a part of its own copy. */
const placeOf = async (file: string, dataDir: string): Promise<string> => {
  const given = resolve(file);
  const path = join(await realpath(dirname(given)), basename(given));
  const database = await realpath(join(dataDir, DATABASE)).catch(() => null);
  if (database !== null && `${path}${sep}`.startsWith(`${database}${sep}`))
    throw new Refusal('file-in-database', 'The file must not be in the directory of the database.');
  return path;
};

const addKeys = async (archive: ArchiveWriter, dataDir: string): Promise<string[]> => {
  const names = Object.values(KEY_FILES);
  const added: string[] = [];
  for (const name of names) if (await addFile(archive, name, join(dataDir, name))) added.push(name);
  return added;
};

type DatabaseOptions = { readonly directory: string; readonly source: CopySource; readonly start: CopyStart };

const addDatabase = async (archive: ArchiveWriter, { directory, source, start }: DatabaseOptions) => {
  await archive.directory(DATABASE);
  for await (const { name, isDirectory } of databaseFiles(directory)) {
    if (isDirectory) await archive.directory(`${DATABASE}/${name}`);
    else await addFile(archive, `${DATABASE}/${name}`, join(directory, name));
  }
  const { label, lastWal, endedAt } = await source.end();
  for (const name of await walFiles(directory, start.firstWal, lastWal))
    await addFile(archive, `${DATABASE}/${name}`, join(directory, name));
  await source.finish();
  const text = Buffer.from(label);
  await archive.file(`${DATABASE}/backup_label`, text.length, [text]);
  return { endedAt };
};

/** @returns whether there is such a file. */
const addFile = async (archive: ArchiveWriter, name: string, path: string): Promise<boolean> => {
  const file = await openFile(path);
  if (file === null) return false;
  try {
    const { size } = await file.stat();
    await archive.file(name, size, chunksOf(file));
    return true;
  } finally {
    await file.close();
  }
};
