import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import type { PasswordBlocklist } from '../../src/application/ports/password-blocklist.ts';
import { describePasswordBlocklist } from '../contracts/password-blocklist.contract.ts';
import { ROOT, readText } from '../support/checkout/repository.ts';
import { temporaryDirectory } from '../support/storage/temporary-directory.ts';

const page = readText('CONTRIBUTING.md');
/** The first block of TypeScript: the adapter to copy. */
const template = (/```ts\n([\s\S]*?)```/.exec(page)?.[1] ?? '').replaceAll(/^ {3}/gm, '').trimEnd();

const PORT = 'src/application/ports/password-blocklist.ts';
/** A temporary project with the rules of this one, and the adapter in its folder. */
const checkout = temporaryDirectory();
const plant = (path: string, text: string): string => {
  const file = join(checkout.path, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
};
plant('package.json', '{ "type": "module" }');
plant('biome.json', JSON.stringify({ ...JSON.parse(readText('biome.json')), vcs: { enabled: false } }));
const typeRoots = [join(ROOT, 'node_modules/@types')];
const include = ['src'];
plant(
  'tsconfig.json',
  JSON.stringify({ extends: join(ROOT, 'tsconfig.json'), compilerOptions: { typeRoots }, include }),
);
plant(PORT, readText(PORT));
const adapter = plant('src/adapters/password-blocklist/file.ts', `${template}\n`);
const list = plant('common.txt', 'Password\r\n12345678\n\n');
afterAll(checkout.remove);

const run = (tool: string, ...args: string[]) =>
  spawnSync(join(ROOT, 'node_modules/.bin', tool), args, { cwd: checkout.path, encoding: 'utf8' });

describe('the adapter in CONTRIBUTING.md', async () => {
  const { filePasswordBlocklist }: { filePasswordBlocklist: (path: string) => Promise<PasswordBlocklist> } =
    await import(pathToFileURL(adapter).href);

  describePasswordBlocklist('filePasswordBlocklist', () => filePasswordBlocklist(list), ['password', '12345678']);

  it('compiles', () => {
    expect(run('tsc')).toMatchObject({ stdout: '', status: 0 });
  });

  it('passes the linter in its folder', () => {
    expect(run('biome', 'check', '--error-on-warnings', 'src')).toMatchObject({ status: 0 });
  });
});

describe('CONTRIBUTING.md', () => {
  it('mentions only existing commands', () => {
    const { scripts }: { readonly scripts: Record<string, string> } = JSON.parse(readText('package.json'));
    const named = [...page.matchAll(/npm (?:run )?([a-z:]+)/g)].map(([, name = '']) => name);
    const builtIn = ['ci', 'and', 'scripts'];
    for (const name of named.filter((name) => !builtIn.includes(name))) expect(Object.keys(scripts)).toContain(name);
  });

  it('mentions only existing files and folders', () => {
    const named = [...page.matchAll(/(?<![\w/])((?:src|test|docs)\/[\w./-]+)/g)].map(([, path = '']) => path);
    expect(named.length).toBeGreaterThan(20);
    const missing = named.filter((path) => !existsSync(join(ROOT, path.replace(/\.$/, ''))));
    expect(missing).toEqual([]);
  });
});
