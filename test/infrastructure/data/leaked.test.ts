// Proves ASVS 6.2.12
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { leakedPasswordsAt, leakedPasswordsInFile } from '../../../src/adapters/crypto/known-passwords.ts';
import { makeLeakedFile } from '../../../src/infrastructure/data/leaked.ts';
import { listenOnLoopback } from '../../support/listen.ts';
import { temporaryDirectory } from '../../support/storage/temporary-directory.ts';

const { newPath } = temporaryDirectory();

const digestOf = (password: string): string => createHash('sha1').update(password).digest('hex').toUpperCase();
const passwords = Array.from({ length: 5_000 }, (_, at) => `password ${at}`);
/** The even ones were found 20 times, the others 5. */
const countOf = (password: string): number => (passwords.indexOf(password) % 2 === 0 ? 20 : 5);
const lines = passwords.map((password) => `${digestOf(password)}:${countOf(password)}`).sort();

const aFile = (...written: readonly string[]): string => {
  const path = newPath();
  writeFileSync(path, written.join('\r\n'));
  return path;
};

/** The same hashes in the files of their ranges, some of which have no extension. */
const aDirectory = (): string => {
  const directory = newPath();
  mkdirSync(directory);
  for (const [range, of] of Map.groupBy(lines, (line) => line.slice(0, 5)))
    writeFileSync(join(directory, `${range}${range > '8' ? '.txt' : ''}`), of.map((line) => line.slice(5)).join('\n'));
  return directory;
};

describe('the list of leaked passwords', () => {
  it.each([
    ['one file', () => aFile(...lines)],
    ['a file for each range', aDirectory],
  ])('has those that were found often enough, out of %s', async (_name, from) => {
    const file = newPath();
    const umask = process.umask(0o077);
    const made = await makeLeakedFile(from(), file, 10).finally(() => process.umask(umask));
    expect(made).toEqual({ file, entries: 2_500, bytes: 6 * 2_501 });
    expect(statSync(file).mode & 0o777).toBe(0o644);
    const isLeaked = await leakedPasswordsInFile(file);
    for (const password of passwords) expect(await isLeaked(password), password).toBe(countOf(password) === 20);
    for (const other of ['', 'Password 0', 'password 5000']) expect(await isLeaked(other)).toBe(false);
  });

  it('may be empty, or have one', async () => {
    const [none, one] = [newPath(), newPath()];
    await makeLeakedFile(aFile(), none, 1);
    await makeLeakedFile(aFile(`${digestOf('hunter22')}:1`), one, 1);
    expect(await (await leakedPasswordsInFile(none))('hunter22')).toBe(false);
    expect(await (await leakedPasswordsInFile(one))('hunter22')).toBe(true);
    expect(await (await leakedPasswordsInFile(one))('hunter23')).toBe(false);
  });

  it.each([
    ['lines of another form', ['0123:4'], /^Line 1 of .* is not SHA-1:COUNT\. Nothing was written\.$/],
    ['another hash', [`${'0'.repeat(32)}:4`], /is not SHA-1:COUNT/],
    ['another order', lines.toReversed(), /^Line 2 of .* is not in ascending order/],
  ])('refuses %s, and leaves nothing behind', async (_name, written, message) => {
    const file = join(newPath(), 'list');
    mkdirSync(dirname(file));
    await expect(makeLeakedFile(aFile(...written), file, 1)).rejects.toThrow(message);
    expect(readdirSync(dirname(file))).toEqual([]);
  });

  it('replaces no file', async () => {
    const file = aFile('mine');
    await expect(makeLeakedFile(aFile(...lines), file, 1)).rejects.toThrow(/exists, and is not replaced/);
    expect(readFileSync(file, 'utf8')).toBe('mine');
  });

  it('is refused if it is another file, or cut off', async () => {
    const file = newPath();
    await makeLeakedFile(aFile(...lines), file, 1);
    const whole = readFileSync(file);
    for (const other of [Buffer.alloc(0), Buffer.from('passwords'), whole.subarray(0, -1)]) {
      const path = newPath();
      writeFileSync(path, other);
      await expect(leakedPasswordsInFile(path)).rejects.toThrow(/is not a list of leaked passwords/);
    }
  });
});

describe('a server of leaked passwords', () => {
  const serving = async (answer: (range: string) => { status: number; body: string }) => {
    const asked: string[] = [];
    const server = createServer((request, response) => {
      asked.push(request.url ?? '');
      const { status, body } = answer((request.url ?? '').slice(-5));
      response.writeHead(status).end(body);
    });
    const { url } = await listenOnLoopback(server);
    return { asked, isLeaked: leakedPasswordsAt(`${url}/range`) };
  };
  const digest = digestOf('hunter22');

  it('learns five digits of the hash, and answers with the rest', async () => {
    const { asked, isLeaked } = await serving((range) => ({
      status: 200,
      body: `${'0'.repeat(35)}:3\r\n${range === digest.slice(0, 5) ? `${digest.slice(5).toLowerCase()}:7\r\n` : ''}`,
    }));
    expect(await isLeaked('hunter22')).toBe(true);
    expect(await isLeaked('hunter23')).toBe(false);
    expect(asked[0]).toBe(`/range/${digest.slice(0, 5)}`);
  });

  it('pads its answer with lines of no password', async () => {
    const { isLeaked } = await serving(() => ({ status: 200, body: `${digest.slice(5)}:0` }));
    expect(await isLeaked('hunter22')).toBe(false);
  });

  it.each([
    ['an error', { status: 500, body: '' }],
    ['a redirect', { status: 302, body: '' }],
    ['a page', { status: 200, body: '<html></html>' }],
    ['an answer without an end', { status: 200, body: 'x'.repeat(1_000_001) }],
  ])('rejects %s', async (_name, answer) => {
    const { isLeaked } = await serving(() => answer);
    await expect(isLeaked('hunter22')).rejects.toThrow();
  });
});
