import { createReadStream, createWriteStream } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import * as v from 'valibot';
import { CommandError } from '../command-error.ts';
import { pairOf } from '../config/keys.ts';
import { ALL_KEY_FILES, FACTOR_KEY_FILE, factorKeyOf } from '../keys/keys.ts';
import { VERSION } from '../version.ts';
import { damageOf, withDatabase } from './database-file.ts';

/**
 * A backup is a file of SQLite, compressed by gzip, which adds a checksum: a copy of the database, and in it a table of texts, which are ABOUT
 * and the keys by their paths below DATA_DIR.
 */
const PARTS = 'tandem_backup';
const ABOUT = 'about';
const FORMAT = 1;

const About = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({ format: v.literal(FORMAT), tandem: v.string(), takenAt: v.string() }),
);

/** What is in a backup beside the database. */
export type Parts = {
  /** The version of Tandem that made it. */
  readonly tandem: string;
  /** ISO 8601. What was committed until then is in the backup. */
  readonly takenAt: string;
  /** Secret keys, by their path below DATA_DIR. */
  readonly keys: ReadonlyMap<string, string>;
};

/** Adds what belongs to a backup to a copy of the database. @throws Error when the copy is damaged. */
export const addParts = (copy: string, { takenAt, keys }: Omit<Parts, 'tandem'>): void =>
  withDatabase(copy, (database) => {
    database.exec(`create table ${PARTS} (name text primary key, content text not null) strict`);
    const insert = database.prepare(`insert into ${PARTS} values (?, ?)`);
    insert.run(ABOUT, JSON.stringify({ format: FORMAT, tandem: VERSION, takenAt }));
    for (const [name, content] of keys) insert.run(name, content);
    const damage = damageOf(database);
    if (damage !== null) throw new Error(`The copy of the database is damaged: ${damage}.`);
  });

/** Reads what belongs to an unpacked backup, and removes it: what is left is the database. @throws CommandError when it is no whole backup. */
export const takeParts = (copy: string): Parts => {
  try {
    return withDatabase(copy, (database) => {
      const damage = damageOf(database);
      if (damage !== null) throw damaged(damage);
      const parts = readParts(database);
      // Nothing of the keys stays in unused pages, or in a file beside it.
      database.exec(`pragma journal_mode = memory; pragma secure_delete = on; drop table ${PARTS}`);
      return parts;
    });
  } catch (error) {
    throw isUnreadable(error) ? damaged('it has no database of a backup') : error;
  }
};

/** Primary result codes, https://sqlite.org/rescode.html: SQLITE_ERROR for a table that is missing, SQLITE_CORRUPT, SQLITE_NOTADB. */
const UNREADABLE: readonly unknown[] = [1, 11, 26];
const isUnreadable = (error: unknown): boolean =>
  error instanceof Error && UNREADABLE.includes(Number(Reflect.get(error, 'errcode')) & 0xff);

const readParts = (database: DatabaseSync): Parts => {
  const rows = database.prepare(`select name, content from ${PARTS}`).all();
  const texts = new Map(rows.map(({ name, content }) => [String(name), String(content)]));
  const about = v.safeParse(About, texts.get(ABOUT));
  if (!about.success) throw new CommandError('other-version', OTHER_VERSION);
  texts.delete(ABOUT);
  for (const [name, key] of texts) assertKey(name, key);
  return { tandem: about.output.tandem, takenAt: about.output.takenAt, keys: texts };
};

const damaged = (problem: string): CommandError =>
  new CommandError('not-a-backup', `This is no whole backup: ${problem}.`);

const OTHER_VERSION = 'This backup was made by a version of Tandem whose form this version does not know.';

const assertKey = (name: string, text: string): void => {
  const key = name === FACTOR_KEY_FILE ? factorKeyOf(text) : pairOf(text);
  if (!ALL_KEY_FILES.includes(name) || key === null) throw damaged(`${name} is no key of the service`);
};

/** Writes a new file that only its owner can read, and waits until it is on the disk. */
const newFile = (path: string) => createWriteStream(path, { flags: 'wx', mode: 0o600, flush: true });

export const pack = (copy: string, file: string): Promise<void> =>
  pipeline(createReadStream(copy), createGzip(), newFile(file));

/** @throws CommandError when the file is not what `pack` has written; Error of the system */
export const unpack = async (file: string, copy: string): Promise<void> => {
  try {
    await pipeline(createReadStream(file), createGunzip(), newFile(copy));
  } catch (error) {
    // The codes of zlib's errors.
    if (error instanceof Error && /^Z_/.test(String(Reflect.get(error, 'code')))) throw damaged('it cannot be read');
    throw error;
  }
};
