import { createReadStream } from 'node:fs';
import { link, open, readdir, rm, stat } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import { LEAKED_ENTRY_BYTES, LEAKED_FILE_HEAD } from '../../adapters/crypto/known-passwords.ts';
import { CommandError, fileExistsError } from '../command-error.ts';

const LINE = /^(?<digest>[0-9A-F]{40}):(?<count>\d{1,12})$/i;

/**
 * Makes the file that `leakedPasswordsInFile` reads, from a public list of SHA-1 hashes. An error leaves no new file.
 * @param from a file with lines of `HASH:COUNT` in ascending order, or a directory with a file for each range, which is named by the first five digits of
 *   its hashes and has lines of `REST:COUNT`
 * @param least passwords with a lower count are left out
 * @throws CommandError; Error of the operating system
 */
export const makeLeakedFile = async (from: string, file: string, least: number) => {
  const draft = `${file}.part-${process.pid}`;
  const output = await open(draft, 'wx');
  try {
    let entries = 0;
    await output.appendFile(LEAKED_FILE_HEAD);
    for await (const batch of entriesOf(from, least)) {
      entries += batch.length / LEAKED_ENTRY_BYTES;
      await output.appendFile(batch);
    }
    // The umask of commands would keep the file private, but the service, which reads it, may run as another user.
    await output.chmod(0o644);
    await output.sync();
    await link(draft, file).catch((error: NodeJS.ErrnoException) => {
      throw error.code === 'EEXIST' ? fileExistsError(file) : error;
    });
    return { file, entries, bytes: (entries + 1) * LEAKED_ENTRY_BYTES };
  } finally {
    await output.close();
    await rm(draft, { force: true });
  }
};

/** Yields the entries of the list chunk by chunk, since a list may have a thousand million lines. */
async function* entriesOf(from: string, least: number): AsyncGenerator<Buffer> {
  const isDirectory = (await stat(from)).isDirectory();
  const paths = isDirectory ? (await readdir(from)).sort().map((name) => join(from, name)) : [from];
  let last = '';
  for (const path of paths) {
    const range = isDirectory ? basename(path, extname(path)) : '';
    let [number, rest] = [0, ''];
    const entryOf = (line: string): string => {
      number += 1;
      // This also removes the byte order mark with which some files begin.
      const text = line.trim();
      const { digest = '', count } = LINE.exec(range + text)?.groups ?? {};
      if (digest === '' && text !== '') throw invalidList(`Line ${number} of ${path} is not SHA-1:COUNT`);
      if (digest === '' || Number(count) < least) return '';
      const entry = digest.slice(0, 2 * LEAKED_ENTRY_BYTES).toUpperCase();
      if (entry < last) throw invalidList(`Line ${number} of ${path} is not in ascending order`);
      last = entry;
      return entry;
    };
    for await (const chunk of createReadStream(path, 'utf8')) {
      const lines = `${rest}${chunk}`.split('\n');
      rest = lines.pop() ?? '';
      yield Buffer.from(lines.map(entryOf).join(''), 'hex');
    }
    yield Buffer.from(entryOf(rest), 'hex');
  }
}

const invalidList = (message: string) => new CommandError('leaked-list', `${message}. Nothing was written.`, 2);
