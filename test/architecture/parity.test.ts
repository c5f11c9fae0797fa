import { existsSync, readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ROOT, readText } from '../support/checkout/repository.ts';

const ports = readdirSync(`${ROOT}src/application/ports`).map((file) => file.replace(/\.ts$/, ''));

/** The promises of a port: the items of the list in its doc comment. */
const promisesOf = (port: string): string[] =>
  [...readText(`src/application/ports/${port}.ts`).matchAll(/^ \* - (.+)$/gm)].map(([, promise = '']) => promise);

/** The TypeScript files below a directory, at any depth. */
const filesBelow = (directory: string): string[] =>
  readdirSync(`${ROOT}${directory}`, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));

/** The titles of a file's tests. */
const titlesOf = (text: string): string[] =>
  [...text.matchAll(/\bit\((['"])(.+)\1,/g)].map(([, , title = '']) => title);

describe.each(ports)('the port %s', (port) => {
  it('has an adapter', () => {
    expect(readdirSync(`${ROOT}src/adapters/${port}`).length).toBeGreaterThan(0);
  });

  it('has a contract that proves each of its promises under its own words', () => {
    const promises = promisesOf(port);
    expect(promises.length).toBeGreaterThan(0);
    const titles = titlesOf(readText(`test/contracts/${port}.contract.ts`));
    for (const promise of promises) expect(titles).toContain(promise);
  });

  it('has every adapter run through its contract', () => {
    const tests = filesBelow('test/adapters')
      .map((file) => readText(`test/adapters/${file}`))
      .filter((text) => text.includes(`contracts/${port}.contract.ts`))
      .join('\n');
    const technologies = filesBelow(`src/adapters/${port}`).filter((file) =>
      /export const \w+ =/.test(factoryOf(port, file)),
    );
    for (const file of technologies.filter((file) => implementsPort(port, file))) {
      expect(tests).toContain(`adapters/${port}/${file}`);
    }
  });
});

const factoryOf = (port: string, file: string): string => readText(`src/adapters/${port}/${file}`);
const implementsPort = (port: string, file: string): boolean => factoryOf(port, file).includes(`ports/${port}.ts`);

describe('the layers', () => {
  it('have adapters in folders alone, which the fences cover', () => {
    const entries = readdirSync(`${ROOT}src/adapters`, { withFileTypes: true });
    expect(entries.filter((entry) => !entry.isDirectory()).map(({ name }) => name)).toEqual([]);
  });

  it('are where CONTRIBUTING.md says', () => {
    for (const path of ['src/domain', 'src/application', 'src/adapters', 'src/infrastructure', 'mikro-orm.config.ts']) {
      expect(existsSync(`${ROOT}${path}`)).toBe(true);
    }
  });

  it('names adapters of ports where the process is composed, and in its commands, alone', () => {
    const outside = readdirSync(`${ROOT}src/infrastructure`, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && !/^(?:compose[./]|commands\/)/.test(file))
      .filter((file) => ports.some((port) => namesAdapterOf(port, readText(`src/infrastructure/${file}`))));
    expect(outside).toEqual([]);
  });
});

/** Types of adapters are nobody's secret. */
const namesAdapterOf = (port: string, text: string): boolean =>
  new RegExp(`^import (?!type )[^;]*adapters/${port}/`, 'm').test(text);
