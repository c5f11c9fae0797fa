// Proves ASVS 11.1.2, 11.4.1
import { globSync } from 'node:fs';
import { join, matchesGlob } from 'node:path';
import { describe, expect, it } from 'vitest';
import { NPM_TEST } from '../../vitest.config.ts';
import { idsOf, numbersIn, provingTests, withTests } from '../support/checkout/proving-tests.ts';
import { ROOT, readText, tableBelow } from '../support/checkout/repository.ts';

type Row = { readonly section: string; readonly cells: readonly string[] };

const headingOf = (line: string) => /^(?:###? |\| \| \*\*)(.+?)(?:\*\* \| \|)?$/.exec(line)?.[1];

/** The rows of tables, and the items of numbered lists as rows of one cell, each with the heading above it, or in a row of its own. */
const rowsOf = (page: string): Row[] => {
  let section = '';
  const lines = page.split('\n');
  return lines.flatMap((line, index) => {
    const heading = headingOf(line);
    section = heading ?? section;
    const [number] = /^\d+\. /.exec(line) ?? [];
    if (number !== undefined) return [{ section, cells: [number] }];
    if (heading !== undefined || !line.startsWith('| ') || lines[index + 1]?.startsWith('|---')) return [];
    const cells = line.split(/(?<!\\)\|/).slice(1, -1);
    return [{ section, cells: cells.map((cell) => cell.replaceAll('`', '').trim()) }];
  });
};

/** The rows of the specification whose first cell is in no row below the same heading of the other page. */
const missingRows = (specification: string, coverage: string): Row[] => {
  const covered = rowsOf(coverage);
  const rows = rowsOf(specification);
  return rows.filter(({ section, cells: [key = ''] }) => {
    const has = (text = '') => (/^\d/.test(key) ? text.startsWith(key) : text.includes(key));
    const found = covered.filter((row) => row.section === section && has(row.cells[1]));
    return found.length < rows.filter((row) => row.section === section && row.cells[0] === key).length;
  });
};

const specification = readText('docs/specification.md');
const coverage = readText('docs/spec-coverage.md');
const security = readText('docs/security.md');
const assessments = readText('docs/assessments.md');
const tests = provingTests();

describe('docs/spec-coverage.md', () => {
  it('has every section and every row of the specification', () => {
    const headings = (page: string) => page.split('\n').flatMap((line) => headingOf(line) ?? []);
    expect(headings(coverage)).toEqual(headings(specification));
    expect(missingRows(specification, coverage)).toEqual([]);
    const more = specification.replace('| `passwordHash` |', '| `phone` | string | |\n| `passwordHash` |');
    expect(missingRows(more, coverage)).toMatchObject([{ section: 'User', cells: ['phone', 'string', ''] }]);
  });

  it('has a test of `npm test` for every row', () => {
    const isInNpmTest = (file: string) => NPM_TEST.some((glob) => matchesGlob(file, glob));
    const ids = rowsOf(coverage).flatMap(({ cells: [first = ''] }) => idsOf(first));
    expect(ids.length).toBeGreaterThan(200);
    const untested = ids.filter((id) => !tests.get(id)?.some(isInNpmTest));
    expect(untested).toEqual([]);
  });
});

/** The levels of the requirements of ASVS 5.0.0: a digit for each of a section. */
const LEVELS = {
  ...{ '6.1': '122', '6.2': '111111112222', '6.3': '11223333', '6.4': '112233', '6.5': '22222333', '6.6': '2223' },
  ...{
    '6.7': '33',
    '6.8': '2222',
    '7.1': '222',
    '7.2': '1111',
    '7.3': '22',
    '7.4': '11222',
    '7.5': '223',
    '7.6': '22',
  },
  ...{ '9.1': '111', '9.2': '1222', '10.1': '22', '10.2': '223', '10.3': '22223', '10.4': '1111122222233333' },
  ...{ '10.5': '22222', '10.6': '22', '10.7': '222' },
};

describe('docs/security.md and docs/assessments.md', () => {
  it('has every requirement of four chapters of ASVS once, with its level, or says that it does not apply', () => {
    const ASVS = 'OWASP ASVS 5.0.0';
    const assessed = rowsOf(assessments)
      .filter(({ section }) => section === ASVS)
      .flatMap(({ cells: [numbers = '', level] }) => numbersIn(numbers).map((number) => `${number} ${level}`));
    const [, below = ''] = assessments.split(`## ${ASVS}\n`);
    const inapplicable = numbersIn(/^Not applicable.*?\n\n/ms.exec(below)?.[0] ?? '');
    const required = Object.entries(LEVELS).flatMap(([section, levels]) =>
      [...levels].map((level, at) => `${section}.${at + 1} ${level}`),
    );
    const isLeft = (requirement: string) => !inapplicable.some((number) => requirement.startsWith(`${number} `));
    const isOfChapters = (requirement: string) => /^(?:6|7|9|10)\./.test(requirement);
    expect(assessed.filter(isOfChapters).toSorted()).toEqual(required.filter(isLeft).toSorted());
    expect(required.filter((each) => !isLeft(each))).toHaveLength(inapplicable.filter(isOfChapters).length);
  });

  it('has a test for each attack that is stopped, and each requirement that is met', () => {
    const claimed = [security, assessments].flatMap(rowsOf).flatMap(({ cells }) => {
      const isClaimed = cells.length === 5 ? !cells[2]?.startsWith('Nothing: ') : cells.includes('met');
      return isClaimed ? idsOf(cells[0] ?? '') : [];
    });
    expect(claimed.length).toBeGreaterThan(100);
    expect(claimed.filter((id) => !tests.has(id))).toEqual([]);
  });
});

describe('the comments `// Proves …` of tests', () => {
  it('name rows that exist, whose ids are unique', () => {
    const ids = [coverage, security, assessments].flatMap((page) =>
      rowsOf(page).flatMap(({ cells: [first = ''] }) => idsOf(first)),
    );
    expect(ids.length).toBe(new Set(ids).size);
    expect([...tests.keys()].filter((id) => !ids.includes(id))).toEqual([]);
  });

  it.each([
    ['docs/spec-coverage.md', coverage],
    ['docs/security.md', security],
    ['docs/assessments.md', assessments],
  ])('are what %s says (npm run docs)', (_page, text) => expect(withTests(text)).toBe(text));
});

it('the inventory of cryptography lists every source file that imports some, and those that choose it by a URL', () => {
  const linked = tableBelow(assessments, 'Inventory of cryptography').flatMap(([, , where = '']) =>
    [...where.matchAll(/\]\(([^)]+)\)/g)].map(([, link = '']) => join('docs', link)),
  );
  const using = globSync('src/**/*.ts', { cwd: ROOT }).filter((path) =>
    /from '(?:node:crypto|jose|bcrypt)'/.test(readText(path)),
  );
  const byUrl = ['mailer/smtp.ts', 'mikro-orm/postgresql.ts', 'redis/connect.ts'].map((file) => `src/adapters/${file}`);
  expect([...new Set(linked)].toSorted()).toEqual([...using, ...byUrl].toSorted());
});
