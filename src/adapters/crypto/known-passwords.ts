import { hash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { PASSWORD_MIN_CODE_POINTS } from '../../domain/password.ts';
import { LoggableError } from '../log/redact-error.ts';
import { boundedText, tracedFetch } from '../tracing/traced-fetch.ts';

const require = createRequire(import.meta.url);

let commonPasswords: ReadonlySet<string> | undefined;

/** Whether zxcvbn lists a password as common, in any letter case; `false` for a shorter one than `PASSWORD_MIN_CODE_POINTS`. The first call loads the list. */
export const isCommonPassword = (password: string): boolean => {
  commonPasswords ??= loadPasswords();
  return commonPasswords.has(password.toLowerCase());
};

const loadPasswords = (): ReadonlySet<string> => {
  const { dictionary }: typeof import('@zxcvbn-ts/language-common') = require('@zxcvbn-ts/language-common');
  const passwords = dictionary['passwords-common'].filter((password) => password.length >= PASSWORD_MIN_CODE_POINTS);
  return new Set(passwords.map((password) => password.toLowerCase()));
};

/**
 * A file of leaked passwords begins with these bytes. Then it has the first six bytes of the SHA-1 of each password, in ascending order. With a
 * thousand million entries, one in 280,000 of the passwords that have not leaked counts as leaked by chance.
 */
export const LEAKED_FILE_HEAD = Buffer.from('leaked');
export const LEAKED_ENTRY_BYTES = 6;
/** Entries in one read of the file: 4 KiB. */
const ENTRIES_PER_READ = 682;

/** Whether a password is in the list of leaked passwords. Rejects if the list gives no valid answer. */
export type IsLeaked = (password: string) => Promise<boolean>;

/**
 * A list of leaked passwords in a file, which is opened for each password, so it may be replaced while the service runs.
 * @throws Error if the file cannot be read, or has not the form that `tandem data leaked` writes
 */
export const leakedPasswordsInFile = async (path: string): Promise<IsLeaked> => {
  const isLeaked = async (password: string): Promise<boolean> => {
    const file = await open(path);
    try {
      const [{ size }, [head]] = [await file.stat(), await entriesOf(file, -1, 1)];
      if (head !== LEAKED_FILE_HEAD.readUIntBE(0, LEAKED_ENTRY_BYTES) || size % LEAKED_ENTRY_BYTES !== 0)
        throw new LoggableError(`${path} is not a list of leaked passwords: \`npx tandem data leaked\` makes one`);
      const wanted = hash('sha1', password, 'buffer').readUIntBE(0, LEAKED_ENTRY_BYTES);
      return await isListed(file, size / LEAKED_ENTRY_BYTES - 1, wanted);
    } finally {
      await file.close();
    }
  };
  await isLeaked('');
  return isLeaked;
};

/** Interpolation search: SHA-1 spreads the entries evenly, so about three reads find an entry among millions. */
const isListed = async (file: FileHandle, count: number, wanted: number): Promise<boolean> => {
  let [low, high, least, most] = [0, count, 0, 2 ** (8 * LEAKED_ENTRY_BYTES)];
  while (low < high) {
    const expected = low + Math.floor(((wanted - least) / (most - least)) * (high - low));
    const from = Math.max(low, Math.min(expected - ENTRIES_PER_READ / 2, high - ENTRIES_PER_READ));
    const entries = await entriesOf(file, from, Math.min(ENTRIES_PER_READ, high - from));
    const [first = most, last = least] = [entries[0], entries.at(-1)];
    if (wanted < first) [high, most] = [from, first];
    else if (wanted > last) [low, least] = [from + entries.length, last];
    else return entries.includes(wanted);
  }
  return false;
};

/** Reads entries of the file. @param from the number of the first entry; the head of the file is number -1 */
const entriesOf = async (file: FileHandle, from: number, count: number): Promise<number[]> => {
  const length = count * LEAKED_ENTRY_BYTES;
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, (from + 1) * LEAKED_ENTRY_BYTES);
  const entries = Math.floor(bytesRead / LEAKED_ENTRY_BYTES);
  return Array.from({ length: entries }, (_, at) => buffer.readUIntBE(at * LEAKED_ENTRY_BYTES, LEAKED_ENTRY_BYTES));
};

const ANSWER_TIMEOUT = 2_000;
const MAX_ANSWER_BYTES = 1_000_000;

/**
 * A list of leaked passwords on a server. The server is asked for all hashes that begin with the first five hexadecimal digits of the password's SHA-1
 * (k-anonymity), so it learns neither the password nor its hash. Its answer has lines of `REST:COUNT`, of which those with a count of 0 are padding.
 * @param url a slash and the five digits are added to it
 */
export const leakedPasswordsAt =
  (url: string): IsLeaked =>
  async (password) => {
    const digest = hash('sha1', password, 'hex').toUpperCase();
    const response = await tracedFetch(`${url}/${digest.slice(0, 5)}`, {
      headers: { 'Add-Padding': 'true' },
      redirect: 'manual',
      signal: AbortSignal.timeout(ANSWER_TIMEOUT),
    });
    if (!response.ok) {
      await response.body?.cancel();
      throw new LoggableError(`the list of leaked passwords has answered with the status ${response.status}`);
    }
    const lines = (await boundedText(response, MAX_ANSWER_BYTES)).trim().toUpperCase().split(/\r?\n/);
    if (lines.some((line) => !/^(?:[0-9A-F]{35}:\d+)?$/.test(line)))
      throw new LoggableError('the list of leaked passwords has answered with something else than hashes');
    return lines.some((line) => line.startsWith(`${digest.slice(5)}:`) && !/:0+$/.test(line));
  };
