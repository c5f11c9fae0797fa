import { existsSync, readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ROOT, readText } from '../support/checkout/repository.ts';

/** Where records are kept. */
const RECORDS = ['memory', 'sqlite', 'postgresql', 'mariadb'];

/** Plain functions with plain tests. */
const WITHOUT_CONTRACT = ['clock-and-ids', 'proofs', 'secrets'];

const ports = readdirSync(`${ROOT}src/application/ports`)
  .map((file) => file.replace(/\.ts$/, ''))
  .filter((port) => !WITHOUT_CONTRACT.includes(port));

/** The promises of a port: the items of the list in its doc comment. */
const promisesOf = (port: string): string[] =>
  [...readText(`src/application/ports/${port}.ts`).matchAll(/^ \* - (.+)$/gm)].map(([, promise = '']) => promise);

/** The TypeScript files below a directory, at any depth. */
const filesBelow = (directory: string): string[] =>
  readdirSync(`${ROOT}${directory}`, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));

/** The text of a contract: its file, and the parts in the folder of the same name. */
const contractOf = (port: string): string => {
  const folder = `test/contracts/${port}`;
  const parts = existsSync(`${ROOT}${folder}`) ? filesBelow(folder).map((file) => `${folder}/${file}`) : [];
  return [`test/contracts/${port}.contract.ts`, ...parts].map(readText).join('\n');
};

/** The titles of a file's tests. */
const titlesOf = (text: string): string[] =>
  [...text.matchAll(/\bit\((['"])(.+)\1,/g)].map(([, , title = '']) => title);

describe.each(ports)('the port %s', (port) => {
  it('has a contract with a test for each of its promises, titled by the promise', () => {
    const promises = promisesOf(port);
    expect(promises.length).toBeGreaterThan(0);
    const titles = titlesOf(contractOf(port));
    for (const promise of promises) expect(titles).toContain(promise);
    expect(titles).toHaveLength(new Set(titles).size);
  });
});

/** What a transaction changes, and itself: written once, over records. */
const ofStorage = ports.filter(
  (port) => port === 'transactions' || readText('src/application/ports/transactions.ts').includes(`'./${port}.ts'`),
);

describe.each(ofStorage)('the port %s, over records', (port) => {
  it('has its contract run for every storage', () => {
    const run = ['test/support/records/describe-storage.ts', 'test/contracts/repositories.ts'].map(readText).join('\n');
    expect(run).toContain(`/${port}.contract.ts'`);
  });
});

/** The files of adapters that make a port. */
const adaptersOf = (port: string): string[] =>
  filesBelow('src/adapters').filter((file) => {
    const text = readText(`src/adapters/${file}`);
    const [, type = ''] = /import type \{ (\w+)/.exec(importOf(port, text)) ?? [];
    return type !== '' && new RegExp(`^export const \\w+ = [^;]*?\\): ${type} =>`, 'm').test(text);
  });
const importOf = (port: string, text: string): string =>
  text.split('\n').find((line) => line.includes(`ports/${port}.ts'`)) ?? '';

describe.each(ports.filter((port) => !ofStorage.includes(port)))('the port %s, of its own', (port) => {
  it('has its contract run for every adapter', () => {
    const tests = filesBelow('test/adapters')
      .map((file) => readText(`test/adapters/${file}`))
      .filter((text) => text.includes(`contracts/${port}.contract.ts`))
      .join('\n');
    for (const file of adaptersOf(port)) expect(tests).toContain(`adapters/${file}`);
    expect(tests).not.toBe('');
  });
});

describe('the records', () => {
  it('have a contract with a test for each of their promises, titled by the promise', () => {
    const text = readText('src/adapters/records/records.ts');
    const promises = [...text.matchAll(/^ \* - (.+)$/gm)].map(([, promise]) => promise);
    expect(titlesOf(contractOf('records')).toSorted()).toEqual(promises.toSorted());
  });

  it.each(RECORDS)('have their contract, and those of the repositories, run %s', (file) => {
    const text = readText(`test/adapters/records/${file}.test.ts`);
    expect(text).toContain('describeRecords(');
    expect(text).toContain('describeStorage(');
  });
});

describe('the layers', () => {
  it('have adapters only in folders, which the lint rules cover', () => {
    const entries = readdirSync(`${ROOT}src/adapters`, { withFileTypes: true });
    expect(entries.filter((entry) => !entry.isDirectory()).map(({ name }) => name)).toEqual([]);
  });

  it('have the folders that CONTRIBUTING.md lists', () => {
    for (const path of ['src/domain', 'src/application', 'src/adapters', 'src/infrastructure', 'mikro-orm.config.ts']) {
      expect(existsSync(`${ROOT}${path}`)).toBe(true);
    }
  });
});
