import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { createGunzip, gzip } from 'node:zlib';
import { createTarDecoder, packTar, unpackTar } from 'modern-tar';
import * as v from 'valibot';
import { pairOf } from '../config/token-keys.ts';
import { KEY_FILES } from '../keys/keys.ts';
import { Refusal } from '../refusal.ts';
import { VERSION } from '../version.ts';

/** What a backup has. */
export type Backup = {
  /** The version of Tandem that made it. */
  readonly tandem: string;
  /** ISO 8601. What was committed until then is in the backup. */
  readonly takenAt: string;
  /** Private keys, by their path below DATA_DIR. */
  readonly keys: ReadonlyMap<string, Buffer>;
  /** The directory of the database as PGlite dumps it: a tar archive. */
  readonly database: Buffer;
};

/** A backup file is a tar archive of ABOUT, the keys, if any, and the database; gzip adds its length and a checksum. */
const FORMAT = 2;
const ABOUT = 'tandem-backup.json';
const DATABASE = 'database.tar';
const About = v.object({ format: v.literal(FORMAT), tandem: v.string(), takenAt: v.string() });
/** Bytes of a key, or of ABOUT. */
const MAX_SMALL_FILE = 16 * 1024;

export const packBackup = async ({ takenAt, keys, database }: Omit<Backup, 'tandem'>): Promise<Buffer> => {
  const about = Buffer.from(JSON.stringify({ format: FORMAT, tandem: VERSION, takenAt }));
  const files = new Map([[ABOUT, about], ...keys, [DATABASE, database]]);
  const entry = ([name, body]: [string, Buffer]) => ({ header: { name, size: body.length, mode: 0o600 }, body });
  return promisify(gzip)(await packTar([...files].map(entry)));
};

/** Reads a backup, and checks all that it has. @throws Refusal when it is no whole, unchanged backup. */
export const readBackup = async (path: string, signal: AbortSignal): Promise<Backup> => {
  try {
    return await contentsOf(path, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof Refusal || (error instanceof Error && 'syscall' in error)) throw error;
    throw damaged('it cannot be read');
  }
};

const damaged = (problem: string): Refusal => new Refusal('not-a-backup', `This is no whole backup: ${problem}.`);

const contentsOf = async (path: string, signal: AbortSignal): Promise<Backup> => {
  const files = new Map<string, Buffer>();
  const unzipped = createGunzip();
  const reading = pipeline(createReadStream(path), unzipped, { signal });
  reading.catch(() => undefined);
  const entries = Readable.toWeb(unzipped).pipeThrough(createTarDecoder({ strict: true }));
  for await (const { header, body } of entries) {
    if (files.has(header.name)) throw damaged(`${header.name} is in it twice`);
    if (header.name !== DATABASE && header.size > MAX_SMALL_FILE) throw damaged(`${header.name} is too large`);
    files.set(header.name, await buffer(body));
  }
  await reading;
  const about = aboutOf(files.get(ABOUT));
  files.delete(ABOUT);
  const database = await databaseOf(files.get(DATABASE));
  files.delete(DATABASE);
  for (const [name, pem] of files) assertKey(name, pem);
  return { tandem: about.tandem, takenAt: about.takenAt, keys: files, database };
};

const aboutOf = (text: Buffer | undefined): v.InferOutput<typeof About> => {
  if (text === undefined) throw damaged(`${ABOUT} is missing`);
  const about: unknown = JSON.parse(text.toString());
  if (v.is(About, about)) return about;
  throw new Refusal(
    'other-version',
    'This backup was made by a version of Tandem whose form this version does not know.',
  );
};

const databaseOf = async (tar: Buffer | undefined): Promise<Buffer> => {
  const found = await unpackTar(tar ?? Buffer.alloc(0), { filter: ({ name }) => /^\/?PG_VERSION$/.test(name) });
  if (tar === undefined || found.length === 0) throw damaged('it has no database');
  return tar;
};

const assertKey = (name: string, pem: Buffer): void => {
  if (!Object.values<string>(KEY_FILES).includes(name) || pairOf(pem.toString()) === null)
    throw damaged(`${name} is no private key of the service`);
};
