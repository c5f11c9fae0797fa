import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { temporaryDirectory } from '../support/storage/temporary-directory.ts';

const module = (name: string): string => new URL(`../../src/infrastructure/${name}`, import.meta.url).href;

/** Runs a program in a process of its own. */
const run = (program: string, ...args: readonly string[]) =>
  spawnSync(process.execPath, ['--input-type=module', '--eval', program, ...args], { encoding: 'utf8' });

it('imports by relative names are resolved as Node resolves them, also those of packages', () => {
  const { path } = temporaryDirectory();
  const file = (name: string, text: string) => writeFileSync(join(path, name), text);
  file('package.json', '{ "type": "module" }');
  file('first.ts', `import { two } from './second.ts'; export const three: number = two + 1;`);
  file('second.ts', 'export const two: number = 2;');
  file('third.ts', `import './missing.ts';`);
  const program = `
    const { resolveByName } = await import(${JSON.stringify(module('module-resolution.js'))});
    resolveByName();
    const { three } = await import(process.argv[1]);
    const { sql } = await import('kysely');
    const { MikroORM } = await import('@mikro-orm/sql');
    const failure = await import(process.argv[2]).catch(({ code }) => code);
    process.stdout.write([three, typeof sql, typeof MikroORM, failure].join());`;
  const { stdout, stderr } = run(
    program,
    ...['first.ts', 'third.ts'].map((name) => pathToFileURL(join(path, name)).href),
  );
  expect({ stdout, stderr }).toEqual({ stdout: '3,function,function,ENOENT', stderr: '' });
});

it('the memory that only the start needed is given back', () => {
  // Only the collection ends it.
  const program = `
    import { constants, PerformanceObserver } from 'node:perf_hooks';
    const { releaseMemoryOfStart } = await import(${JSON.stringify(module('garbage-collection.ts'))});
    setInterval(() => {}, 1_000);
    const isMajor = ({ detail }) => detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR;
    new PerformanceObserver((list) => list.getEntries().some(isMajor) && process.exit(7)).observe({ entryTypes: ['gc'] });
    releaseMemoryOfStart();`;
  expect(run(program)).toMatchObject({ status: 7, stderr: '' });
});
