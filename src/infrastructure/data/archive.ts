import { open } from 'node:fs/promises';
import { pipeline, Readable } from 'node:stream';
import { promisify } from 'node:util';
import { createGunzip, gzip } from 'node:zlib';
import { packTar, unpackTar } from 'modern-tar';
import * as v from 'valibot';
import { CommandError } from '../command-error.ts';
import { pairOf } from '../config/token-keys.ts';
import { ALL_KEY_FILES, FACTOR_KEY_FILE, factorKeyOf } from '../keys/keys.ts';
import { VERSION } from '../version.ts';

export type Backup = {
  /** The version of Tandem that made it. */
  readonly tandem: string;
  /** ISO 8601. What was committed until then is in the backup. */
  readonly takenAt: string;
  /** Secret keys, by their path below DATA_DIR. */
  readonly keys: ReadonlyMap<string, Buffer>;
  /** The directory of the database as PGlite dumps it: a tar archive. */
  readonly database: Buffer;
};

/** A backup file is a tar archive of ABOUT, the keys, if any, and the database; gzip adds its length and a checksum. */
const FORMAT = 2;
const ABOUT = 'tandem-backup.json';
const DATABASE = 'database.tar';
const About = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({ format: v.literal(FORMAT), tandem: v.string(), takenAt: v.string() }),
);

export const packBackup = async ({ takenAt, keys, database }: Omit<Backup, 'tandem'>): Promise<Buffer> => {
  const about = Buffer.from(JSON.stringify({ format: FORMAT, tandem: VERSION, takenAt }));
  const files = new Map([[ABOUT, about], ...keys, [DATABASE, database]]);
  const entry = ([name, body]: [string, Buffer]) => ({ header: { name, size: body.length, mode: 0o600 }, body });
  return promisify(gzip)(await packTar([...files].map(entry)));
};

/** Reads a backup, and checks its content. @throws CommandError when it is not a whole, unchanged backup; Error of the system */
export const readBackup = async (path: string): Promise<Backup> => {
  await using file = await open(path);
  const tar = pipeline(file.createReadStream(), createGunzip(), () => undefined);
  const entries = await unpackTar(Readable.toWeb(tar), { strict: true }).catch(() => {
    throw damaged('it cannot be read');
  });
  const files = new Map(entries.map(({ header, data }) => [header.name, Buffer.from(data ?? [])]));
  if (files.size < entries.length) throw damaged('a file is in it twice');
  if (!files.has(ABOUT)) throw damaged(`${ABOUT} is missing`);
  const about = v.safeParse(About, files.get(ABOUT)?.toString());
  if (!about.success) throw new CommandError('other-version', OTHER_VERSION);
  const { tandem, takenAt } = about.output;
  const database = files.get(DATABASE);
  if (!database?.includes('PG_VERSION')) throw damaged('it has no database');
  const keys = new Map([...files].filter(([name]) => name !== ABOUT && name !== DATABASE));
  for (const [name, key] of keys) assertKey(name, key.toString());
  return { tandem, takenAt, keys, database };
};

const damaged = (problem: string): CommandError =>
  new CommandError('not-a-backup', `This is no whole backup: ${problem}.`);

const OTHER_VERSION = 'This backup was made by a version of Tandem whose form this version does not know.';

const assertKey = (name: string, text: string): void => {
  const key = name === FACTOR_KEY_FILE ? factorKeyOf(text) : pairOf(text);
  if (!ALL_KEY_FILES.includes(name) || key === null) throw damaged(`${name} is no key of the service`);
};
