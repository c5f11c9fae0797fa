import { globSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { PUBLISHED } from '../../conformance/checks/catalog.ts';
import { GROUPS } from '../../conformance/checks/checks.ts';
import { ROOT, readText, tableBelow } from '../support/checkout/repository.ts';

const specification = readText('docs/specification.md');
const flat = (text: string): string => text.replaceAll(/\s+/g, ' ');

/** The text below a heading, with the subsections that have a smaller heading. */
const sectionOf = (heading: string): string => {
  const lines = specification.split('\n');
  const start = lines.findIndex((line) => line.replace(/^#+ /, '') === heading && line.startsWith('#'));
  if (start < 0) throw new Error(`there is no section ${heading}`);
  const level = lines[start]?.indexOf(' ') ?? 0;
  const length = lines.slice(start + 1).findIndex((line) => /^#+ /.test(line) && line.indexOf(' ') <= level);
  return flat(lines.slice(start + 1, length < 0 ? undefined : start + 1 + length).join('\n'));
};
const checksOf = (...parts: string[]) =>
  GROUPS.filter(({ part }) => parts.includes(part)).flatMap(({ checks }) =>
    checks.map(({ id, source: [heading, words] }) => ({ id, heading, words })),
  );

describe('every check', () => {
  it('has an id of its own', () => {
    const ids = checksOf('specification', 'extended', 'rate-limits').map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it.each(checksOf('specification', 'rate-limits'))(
    'quotes a section of the specification: $id',
    ({ heading, words }) => {
      expect(sectionOf(heading)).toContain(words);
    },
  );

  it.each(checksOf('extended'))('names a decision record and its title: $id', ({ heading, words }) => {
    const [file = ''] = globSync(`docs/adr/${heading}-*.md`, { cwd: ROOT });
    expect(readText(file)).toMatch(`# ${heading}. ${words}\n`);
  });
});

it('the catalog of the suite is that of the specification, without AUTH_FAILED', () => {
  const rows = tableBelow(specification, 'Catalog').filter(([code]) => code !== 'AUTH_FAILED');
  const published = rows.map(([code, status, retryable]) => [
    code,
    { status: Number(status), retryable: retryable === 'yes' },
  ]);
  expect(PUBLISHED).toEqual(Object.fromEntries(published));
});

it('the suite imports nothing of the service', () => {
  const imports = globSync('conformance/**/*.ts', { cwd: ROOT }).flatMap((file) =>
    [...readText(file).matchAll(/from '([^']+)'/g)].map(([, from = '']) => from),
  );
  expect(imports.length).toBeGreaterThan(20);
  expect(imports.filter((from) => !/^(?:node:|jose$|\.\.?\/(?!.*\b(?:src|test)\/))/.test(from))).toEqual([]);
});
