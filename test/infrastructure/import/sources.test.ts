import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, it } from 'vitest';
import { readLine } from '../../../src/infrastructure/import/line.ts';
import type { SourceLine } from '../../../src/infrastructure/import/source.ts';
import { SOURCES } from '../../../src/infrastructure/import/sources.ts';

const EXPORTS = join(import.meta.dirname, 'exports');

/** The users in a directory of ./exports, as ./exports/README.md says. */
const read = async (name: string, changed = (hashConfig: string | undefined) => hashConfig) => {
  const paths = readdirSync(join(EXPORTS, name)).map((file) => join(EXPORTS, name, file));
  const is = (begin: string) => (path: string) => basename(path).startsWith(begin);
  const files = paths.filter((path) => !['passwords.', 'hash-config', 'read.'].some((begin) => is(begin)(path)));
  const config = paths.find(is('hash-config'));
  const hashConfig = changed(config && readFileSync(config, 'utf8'));
  const [, source] = Object.entries(SOURCES).find(([each]) => name.startsWith(each)) ?? expect.unreachable(name);
  const lines: object[] = [];
  for await (const line of source({ files, passwords: paths.find(is('passwords.')), hashConfig }))
    lines.push({ ...shown(line), file: basename(line.file) });
  return lines;
};

const shown = (line: SourceLine) => {
  if (!('user' in line)) return line;
  const { email } = line.user as { email?: string };
  if (email !== undefined) expect(readLine(line.user)).not.toHaveProperty('problem');
  const user = Object.entries(line.user as object).filter(
    ([, value]) => value !== undefined && value !== false && value?.length !== 0,
  );
  return { ...line, user: Object.fromEntries(user) };
};

it.each(readdirSync(EXPORTS).filter((name) => name !== 'README.md'))('reads the export %s', async (name) => {
  const expected = readFileSync(join(EXPORTS, name, 'read.jsonl'), 'utf8')
    .trimEnd()
    .split('\n');
  expect(await read(name)).toEqual(expected.map((line) => JSON.parse(line)));
});

it.each<[string, (hashConfig?: string) => string | undefined]>([
  ['The users have passwords', () => undefined],
  ['--hash-config: mem_cost is missing.', (text) => text?.replace(/mem_cost.*/, '')],
  ['--hash-config: only the algorithm SCRYPT is supported.', (text) => text?.replace('SCRYPT', 'BCRYPT')],
])('users of Firebase need the parameters of their hashes: %s', async (message, changed) => {
  await expect(read('firebase', changed)).rejects.toThrow(message);
});
