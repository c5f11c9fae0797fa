import { createReadStream } from 'node:fs';
import { link, open, readdir, rm, stat } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { LEAKED_ENTRY_BYTES, LEAKED_FILE_HEAD } from '../../adapters/crypto/known-passwords.ts';
import { inBatches } from '../batches.ts';
import { CommandError, fileExistsError } from '../command-error.ts';

const LINE = /^(?<digest>[0-9A-F]{40}):(?<count>\d{1,12})$/i;
const BATCH_SIZE = 100_000;

/**
 * Makes the file that `leakedPasswordsInFile` reads, from a public list of SHA-1 hashes. After an error, there is no file.
 * @param from a file with lines of `HASH:COUNT` in ascending order, or a directory with a file for each range, which is named by the first five digits of
 *   its hashes and has lines of `REST:COUNT`
 * @param least passwords with a lower count are left out
 * @throws CommandError; Error of the operating system
 */
export const makeLeakedFile = async (from: string, file: string, least: number) => {
  const draft = `${file}.part-${process.pid}`;
  const output = await open(draft, 'wx', 0o644);
  try {
    let entries = 0;
    await output.appendFile(LEAKED_FILE_HEAD);
    for await (const batch of inBatches(entriesOf(from, least), BATCH_SIZE)) {
      entries += batch.length;
      await output.appendFile(Buffer.concat(batch));
    }
    await output.sync();
    await link(draft, file);
    return { file, entries, bytes: (entries + 1) * LEAKED_ENTRY_BYTES };
  } catch (error) {
    const isTaken = error instanceof Error && 'code' in error && error.code === 'EEXIST';
    throw isTaken ? fileExistsError(file) : error;
  } finally {
    await output.close();
    await rm(draft, { force: true });
  }
};

async function* entriesOf(from: string, least: number): AsyncGenerator<Buffer> {
  let last: Buffer = Buffer.alloc(LEAKED_ENTRY_BYTES);
  for await (const { place, text } of linesOf(from)) {
    const { digest, count } = LINE.exec(text)?.groups ?? {};
    if (digest === undefined) throw invalidList(`${place} is not SHA-1:COUNT`);
    if (Number(count) < least) continue;
    const entry = Buffer.from(digest.slice(0, 2 * LEAKED_ENTRY_BYTES), 'hex');
    if (entry.compare(last) < 0) throw invalidList(`${place} is not in ascending order`);
    last = entry;
    yield entry;
  }
}

async function* linesOf(from: string): AsyncGenerator<{ readonly place: string; readonly text: string }> {
  const isDirectory = (await stat(from)).isDirectory();
  const paths = isDirectory ? (await readdir(from)).sort().map((name) => join(from, name)) : [from];
  for (const path of paths) {
    const range = isDirectory ? basename(path, extname(path)) : '';
    let number = 0;
    for await (const line of createInterface({ input: createReadStream(path) })) {
      number += 1;
      // Some files begin with a byte order mark.
      const text = line.replace(/^\uFEFF/, '').trim();
      if (text !== '') yield { place: `Line ${number} of ${path}`, text: range + text };
    }
  }
}

const invalidList = (message: string) => new CommandError('leaked-list', `${message}. Nothing was written.`, 2);
