import { existsSync } from 'node:fs';
import { matchesGlob } from 'node:path';
import { describe, expect, it } from 'vitest';
import { NPM_TEST } from '../../vitest.config.ts';
import { existingTests } from '../support/checkout/named-tests.ts';
import { ROOT, readText } from '../support/checkout/repository.ts';

/** The headings of SPEC with promises or gaps, in its order. */
const SECTIONS = [
  'What the service does',
  'User',
  'Access token (JWT, ES256) claims',
  'Refresh token (JWT, ES256) claims',
  'Success envelope',
  'Error envelope',
  'Error catalog entry',
  'States and transitions',
  'Endpoints',
  'Refresh procedure (`POST /auth/refresh-token`)',
  'Gaps in the endpoint definitions',
  'Request processing shared by all endpoints',
  'Token scheme',
  'Refresh cookie',
  'Key configuration',
  'Password handling',
  'Route guard',
  'Events',
  'Errors',
  'Catalog',
  'Exception mapping',
  'Rate limiting',
  'Time and size constants',
  'Slow-request logging (thresholds from config `SLOW_REQUEST_THRESHOLDS`)',
  'Versioning',
];

const PAGE = readText('docs/spec-coverage.md');
const HEAD = '| Id | Promise of the specification | Test |\n|---|---|---|';
const NAMED_TEST = /`([^`]+)`/g;
const NAMED_RECORD = /\]\((adr\/[^)]+)\)/g;
/** The words of a promise that SPEC leaves open. */
const OPEN = /not shown|not said/;

type Row = { readonly section: string; readonly promise: string; readonly tests: readonly string[] };

/** The rows of every table of a page, each with the heading above it. */
const rowsOf = (page: string): Row[] => {
  let section = '';
  return page
    .replaceAll(HEAD, '')
    .split('\n')
    .flatMap((line) => {
      section = /^#+ (.+)$/.exec(line)?.[1] ?? section;
      if (!line.startsWith('|')) return [];
      const [, , promise = '', tests = ''] = line.split('|').map((cell) => cell.trim());
      return [{ section, promise, tests: [...tests.matchAll(NAMED_TEST)].map(([, test = '']) => test) }];
    });
};

/** False statements of a page, given all existing tests as `file › title › title`. */
const problemsOf = (page: string, existing: ReadonlySet<string>): string[] =>
  rowsOf(page).flatMap(({ promise, tests }) => {
    const records = [...promise.matchAll(NAMED_RECORD)].map(([, record = '']) => `docs/${record}`);
    return [
      ...(tests.length === 0 ? [`no test: ${promise}`] : []),
      ...tests.filter((test) => !existing.has(test)).map((test) => `no such test: ${test}`),
      ...(OPEN.test(promise) && records.length === 0 ? [`no record: ${promise}`] : []),
      ...records.filter((record) => !existsSync(ROOT + record)).map((record) => `no such record: ${record}`),
    ];
  });

describe('docs/spec-coverage.md', async () => {
  const existing = new Set((await existingTests()).map(({ reference }) => reference));

  it('has every section of the specification with promises, in its order', () => {
    expect([...new Set(rowsOf(PAGE).map(({ section }) => section))]).toEqual(SECTIONS);
  });

  it('references an existing test for every promise and an existing record for every gap', () => {
    expect(problemsOf(PAGE, existing)).toEqual([]);
  });

  it('has a test of `npm test` for every promise', () => {
    const isInNpmTest = (test: string) => NPM_TEST.some((glob) => matchesGlob(test.split(' › ')[0] ?? '', glob));
    const without = rowsOf(PAGE).filter(({ tests }) => !tests.some(isInNpmTest));
    expect(without.map(({ promise }) => promise)).toEqual([]);
  });

  it('contains no promise twice', () => {
    const promises = rowsOf(PAGE).map(({ section, promise }) => `${section}: ${promise}`);
    expect(promises.filter((row, index) => !row.includes(': …') && promises.indexOf(row) < index)).toEqual([]);
  });

  it.each([
    ['a title', ' › ', ' › planted: '],
    ['a file', 'test/http/', 'test/planted/'],
    ['a describe block', ' › answers', ' › planted › answers'],
    ['a record', '](adr/', '](adr/planted-'],
  ])('is refused with %s that does not exist', (_what, real, planted) => {
    const page = PAGE.replace(real, planted);
    expect(page).not.toBe(PAGE);
    expect(problemsOf(page, existing)).toContainEqual(expect.stringContaining('planted'));
  });
});

describe('a row', () => {
  const existing = new Set(['test/a.test.ts › outer › inner']);
  const TEST = '`test/a.test.ts › outer › inner`';

  it.each([
    ['with its test is correct', `| a-1 | It works | ${TEST} |`, []],
    [
      'of a gap with its record is correct',
      `| a-1 | "Not… not shown" ([ADR 0005](adr/0005-passwords.md)) | ${TEST} |`,
      [],
    ],
    ['without a test is wrong', '| a-1 | It works | |', ['no test: It works']],
    ['without a cell for tests is wrong', '| a-1 | It works |', ['no test: It works']],
    ['with prose instead of a test is wrong', '| a-1 | It works | of course |', ['no test: It works']],
    [
      'with only an inner title is wrong',
      '| a-1 | It works | `test/a.test.ts › inner` |',
      [expect.stringMatching(/inner$/)],
    ],
    [
      'with only an outer title is wrong',
      '| a-1 | It works | `test/a.test.ts › outer` |',
      [expect.stringMatching(/outer$/)],
    ],
    [
      'of which one test of two exists is wrong',
      `| a-1 | It works | ${TEST}<br>\`test/b\` |`,
      ['no such test: test/b'],
    ],
    [
      'of a gap without its record is wrong',
      `| a-1 | "Rules: not shown" | ${TEST} |`,
      ['no record: "Rules: not shown"'],
    ],
  ])('%s', (_what, row, problems) => {
    expect(problemsOf(`## A heading\n\n${HEAD}\n${row}\n`, existing)).toEqual(problems);
  });
});
