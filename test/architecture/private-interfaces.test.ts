import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { ROOT, readText, tableBelow } from '../support/checkout/repository.ts';

const ROWS = tableBelow(readText('docs/adr/0034-what-is-private-to-others.md'), 'Used');

const installed = (name: string): string =>
  name === 'node'
    ? process.versions.node
    : JSON.parse(readFileSync(`${ROOT}node_modules/${name}/package.json`, 'utf8')).version;

it.each(ROWS)('what is private to a package %s %s: %s', (name, version, _what, where) => {
  const [major, minor] = installed(name).split('.');
  // Look at what the new version does, run the tests of the file, and change the row.
  expect(`${major}.${minor}`).toBe(version);
  expect(globSync(where, { cwd: ROOT })).not.toEqual([]);
});
