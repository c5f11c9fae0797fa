import { existsSync, globSync } from 'node:fs';
import { dirname, join, matchesGlob } from 'node:path';
import { describe, expect, it } from 'vitest';
import { NPM_TEST } from '../../vitest.config.ts';
import { ROOT, readText, tableBelow } from '../support/checkout/repository.ts';

type Row = { readonly section: string; readonly cells: readonly string[] };

/** The rows of tables, and the items of numbered lists as rows of one cell, each with the last heading above it that counts. */
const rowsOf = (page: string, counts: (heading: string) => boolean = () => true): Row[] => {
  let section = '';
  const lines = page.split('\n');
  return lines.flatMap((line, index) => {
    const [, heading] = /^#+ (.+)$/.exec(line) ?? [];
    if (heading !== undefined && counts(heading)) section = heading;
    const [number] = /^\d+\. /.exec(line) ?? [];
    if (number !== undefined) return [{ section, cells: [number] }];
    if (!line.startsWith('| ') || lines[index + 1]?.startsWith('|---')) return [];
    const cells = line.split(/(?<!\\)\|/).slice(1, -1);
    return [{ section, cells: cells.map((cell) => cell.replaceAll('`', '').trim()) }];
  });
};
const filesIn = ({ cells }: Row): string[] => cells.at(-1)?.split(', ') ?? [];

/** The rows of the specification whose first cell is in no row below the same heading of the other page. */
const missingRows = (specification: string, coverage: string): Row[] => {
  const covered = rowsOf(coverage);
  const sections = new Set([...coverage.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading));
  const rows = rowsOf(specification, (heading) => sections.has(heading));
  return rows.filter(({ section, cells: [key = ''] }) => {
    const has = (text = '') => (/^\d/.test(key) ? text.startsWith(key) : text.includes(key));
    const found = covered.filter((row) => row.section === section && has(row.cells[0]));
    return found.length < rows.filter((row) => row.section === section && row.cells[0] === key).length;
  });
};

const specification = readText('docs/specification.md');
const coverage = readText('docs/spec-coverage.md');
const securityTests = readText('docs/security-tests.md');

describe('docs/spec-coverage.md', () => {
  it('has every section and every row of the specification', () => {
    const headings = (page: string) => [...page.matchAll(/^###? (.+)$/gm)].map(([, name]) => name);
    expect(headings(coverage)).toEqual(headings(specification));
    expect(missingRows(specification, coverage)).toEqual([]);
    const more = specification.replace('| `email` |', '| `phone` | string | |\n| `email` |');
    expect(missingRows(more, coverage)).toMatchObject([{ section: 'User', cells: ['phone', 'string', ''] }]);
  });

  it('names for every row a file of `npm test`', () => {
    const isInNpmTest = (file: string) => NPM_TEST.some((glob) => matchesGlob(file, glob));
    expect(rowsOf(coverage).filter((row) => !filesIn(row).some(isInNpmTest))).toEqual([]);
  });
});

it.each([
  ['docs/spec-coverage.md', coverage],
  ['docs/security-tests.md', securityTests],
])('%s names files that exist', (_page, text) => {
  const files = rowsOf(text).flatMap(filesIn);
  expect(files.length).toBeGreaterThan(100);
  expect(files.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
});

const SECURITY = 'docs/security.md';
/** The number of a requirement of ASVS, or the first of a range; or an id such as `theft-1`. */
const ID = /^(?:\d+\.\d+\.\d+|[a-z]+-\d+)/;

describe('docs/security-tests.md', () => {
  it('has each attack that is stopped, and each requirement that is met', () => {
    const claimed = rowsOf(readText(SECURITY)).flatMap(({ cells }) => {
      const [id] = ID.exec(cells[0] ?? '') ?? [];
      const isClaimed = cells.length === 4 ? !cells[2]?.startsWith('Nothing: ') : cells.includes('met');
      return id !== undefined && isClaimed ? [/^\d/.test(id) ? `asvs-${id}` : id] : [];
    });
    expect(claimed.length).toBeGreaterThan(100);
    const tested = new Set(rowsOf(securityTests).map(({ cells: [id] }) => id));
    expect(claimed.filter((id) => !tested.has(id))).toEqual([]);
  });
});

describe('the inventory of cryptography', () => {
  it('lists every source file that imports some, and those that choose it by a URL', () => {
    const linked = tableBelow(readText(SECURITY), 'Inventory of cryptography').flatMap(([, , where = '']) =>
      [...where.matchAll(/\]\(([^)]+)\)/g)].map(([, link = '']) => join(dirname(SECURITY), link)),
    );
    const using = globSync('src/**/*.ts', { cwd: ROOT }).filter((path) =>
      /from '(?:node:crypto|jose|bcrypt)'/.test(readText(path)),
    );
    const byUrl = ['mailer/smtp.ts', 'mikro-orm/postgresql.ts', 'redis/connect.ts'].map(
      (file) => `src/adapters/${file}`,
    );
    expect([...new Set(linked)].toSorted()).toEqual([...using, ...byUrl].toSorted());
  });
});
