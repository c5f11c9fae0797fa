import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import type { PasswordBlocklist } from '../../src/application/ports/password-blocklist.ts';
import { describePasswordBlocklist } from '../contracts/password-blocklist.contract.ts';
import { ROOT, readText, tableBelow } from '../support/checkout/repository.ts';
import { temporaryDirectory } from '../support/storage/temporary-directory.ts';

const page = readText('CONTRIBUTING.md');
/** The blocks of TypeScript of a section, in their order. */
const blocksOf = (heading: string): string[] => {
  const [, section = ''] = page.split(`\n## ${heading}\n`);
  const [text = ''] = section.split('\n## ');
  return [...text.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, block = '']) => block.replaceAll(/^ {3}/gm, '').trimEnd());
};
/** The three steps: the adapter to copy, its test, and where it is named. */
const [template = '', contract = '', composition = ''] = blocksOf('Add an adapter');

const PORT = 'src/application/ports/password-blocklist.ts';
const COMPOSITION = `import { filePasswordBlocklist } from '../adapters/crypto/password-list.ts';
import { zxcvbnPasswordBlocklist } from '../adapters/crypto/password-blocklist.ts';
import type { PasswordBlocklist } from '../application/ports/password-blocklist.ts';

/** The members that the variables of this example have. */
type Config = { readonly passwordBlocklist: 'common' | 'off'; readonly passwordBlocklistFile: string | null };

${composition}

export const open: (config: Config) => Promise<PasswordBlocklist | null> = openBlocklist;
`;
/** A temporary project with the rules of this one, the adapter and its test in their folders, and links to what they import. */
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
const include = ['src', 'test/adapters'];
plant(
  'tsconfig.json',
  JSON.stringify({ extends: join(ROOT, 'tsconfig.json'), compilerOptions: { typeRoots }, include }),
);
plant(PORT, readText(PORT));
for (const linked of [
  'test/contracts',
  'test/support',
  'src/adapters/crypto/password-blocklist.ts',
  'src/domain',
  'node_modules',
]) {
  mkdirSync(dirname(join(checkout.path, linked)), { recursive: true });
  symlinkSync(join(ROOT, linked), join(checkout.path, linked));
}
plant('test/adapters/password-blocklist.test.ts', `${contract}\n`);
plant('src/infrastructure/compose.ts', COMPOSITION);
const adapter = plant('src/adapters/crypto/password-list.ts', `${template}\n`);
const list = plant('common.txt', 'Password\r\n12345678\n\n');
afterAll(checkout.remove);

const run = (tool: string, ...args: string[]) =>
  spawnSync(join(ROOT, 'node_modules/.bin', tool), args, { cwd: checkout.path, encoding: 'utf8' });

describe('the three steps in CONTRIBUTING.md', async () => {
  const { filePasswordBlocklist }: { filePasswordBlocklist: (path: string) => Promise<PasswordBlocklist> } =
    await import(pathToFileURL(adapter).href);

  describePasswordBlocklist('filePasswordBlocklist', () => filePasswordBlocklist(list), ['password', '12345678']);

  it('compile as they are printed: the adapter, its contract and its composition', () => {
    expect(contract).toContain('describePasswordBlocklist(');
    expect(composition).toContain('filePasswordBlocklist(');
    expect(run('tsc')).toMatchObject({ stdout: '', status: 0 });
  });

  it('pass the linter in their folders', () => {
    expect(run('biome', 'check', '--error-on-warnings', 'src/adapters', 'test/adapters')).toMatchObject({ status: 0 });
  });
});

describe('the table of hooks in docs/own-store.md', () => {
  it('has every member that the contract of records takes', () => {
    const types = ['hooks', 'records/database'].flatMap((file) => [
      ...readText(`test/contracts/${file}.ts`).matchAll(/export type (?:StoreHooks<Port>|Database) = ([\s\S]*?)\n};/g),
    ]);
    const members = types.flatMap(([, type = '']) =>
      [...type.matchAll(/^ {2}readonly (\w+)/gm)].map(([, name]) => name),
    );
    expect(members.length).toBeGreaterThan(4);
    expect(
      tableBelow(readText('docs/own-store.md'), 'Test it')
        .map(([name]) => name)
        .sort(),
    ).toEqual(members.sort());
  });
});

describe('CONTRIBUTING.md', () => {
  it('mentions only existing commands', () => {
    const { scripts }: { readonly scripts: Record<string, string> } = JSON.parse(readText('package.json'));
    const named = [...page.matchAll(/npm (?:run )?([a-z:]+)/g)].map(([, name = '']) => name);
    const builtIn = ['ci', 'and', 'scripts', 'pack'];
    for (const name of named.filter((name) => !builtIn.includes(name))) expect(Object.keys(scripts)).toContain(name);
  });

  it('mentions only existing files and folders', () => {
    const text = page.replaceAll(/^```[\s\S]*?^```$/gm, '').replaceAll(/^\*\*`[^`]+`\*\*/gm, '');
    const named = [...text.matchAll(/(?<![\w/])((?:src|test|docs|examples)\/[\w./-]+)/g)].map(([, path = '']) => path);
    expect(named.length).toBeGreaterThan(20);
    const missing = named.filter((path) => !existsSync(join(ROOT, path.replace(/\.$/, ''))));
    expect(missing).toEqual([]);
  });
});
