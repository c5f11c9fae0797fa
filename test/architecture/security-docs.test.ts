import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { APPENDIX, idsIn, SECURITY } from '../support/checkout/proofs.ts';
import { ROOT, readText, tableBelow } from '../support/checkout/repository.ts';

const CHAPTERS = '## OWASP ASVS 5.0.0';
/** A row with one requirement or a range: number, level, requirement, status, reason. */
const REQUIREMENT = /^\| (\d+\.\d+\.\d+)(?:–(\d+\.\d+\.\d+))? \| (\d) \| ([^|]+) \| ([^|]+) \| ([^|]*) \|$/;
/** A row of the other standards: id, section, requirement, status, reason. */
const AAL2 = /^\| ((?:nist|bcp)-\d+) \| [^|]+ \| [^|]+ \| ([^|]+) \| ([^|]*) \|$/;
const STATUSES = ['met', 'not applicable', 'not met'];

/** The number of requirements of levels 1 and 2 in each section of ASVS 5.0.0; in these sections they come first. */
const SECTIONS: Readonly<Record<string, number>> = {
  ...{ '3.2': 2, '3.3': 4, '3.4': 6, '3.5': 5, '3.7': 2 },
  ...{ '4.1': 3, '4.2': 1, '4.3': 2, '4.4': 4 },
  ...{ '6.1': 3, '6.2': 12, '6.3': 4, '6.4': 4, '6.5': 5, '6.6': 3, '6.8': 4 },
  ...{ '7.1': 3, '7.2': 4, '7.3': 2, '7.4': 5, '7.5': 2, '7.6': 2 },
  ...{ '8.1': 2, '8.2': 3, '8.3': 1, '8.4': 1 },
  ...{ '9.1': 3, '9.2': 4 },
  ...{ '11.1': 2, '11.2': 3, '11.3': 3, '11.4': 4, '11.5': 1, '11.6': 1 },
  ...{ '14.1': 2, '14.2': 4, '14.3': 3 },
  ...{ '16.1': 1, '16.2': 5, '16.3': 4, '16.4': 3, '16.5': 3 },
};
const REQUIRED = Object.entries(SECTIONS).flatMap(([section, count]) =>
  Array.from({ length: count }, (_, index) => `${section}.${index + 1}`),
);

const pathsIn = (text: string): string[] =>
  [...text.matchAll(/`((?:src|test|docs)\/[^`›]*)`/g)].map(([, path = '']) => path);
const linksIn = (text: string): string[] =>
  [...text.matchAll(/\]\(([^)#]+)\)/g)].map(([, link = '']) => link).filter((link) => !link.startsWith('https://'));

type Row = {
  readonly id: string;
  readonly numbers: readonly string[];
  readonly status: string;
  readonly why: string;
};

const numbersFrom = (first: string, last = first): string[] => {
  const section = first.slice(0, first.lastIndexOf('.'));
  const [from, to] = [first, last].map((number) => Number(number.split('.').at(-1)));
  return REQUIRED.filter((number) => {
    const index = Number(number.split('.').at(-1));
    return number.startsWith(`${section}.`) && index >= Number(from) && index <= Number(to);
  });
};

const rowsOf = (page: string): Row[] =>
  page.split('\n').flatMap((line) => {
    const [, first, last, , , status = '', why = ''] = REQUIREMENT.exec(line) ?? [];
    if (first !== undefined) return [{ id: `asvs-${first}`, numbers: numbersFrom(first, last), status, why }];
    const [, id, otherStatus = '', otherWhy = ''] = AAL2.exec(line) ?? [];
    return id === undefined ? [] : [{ id, numbers: [], status: otherStatus, why: otherWhy }];
  });

/**
 * False statements of a page.
 * @param tested the ids of the rows that have tests.
 */
const problemsOf = (page: string, tested: ReadonlySet<string>): string[] => [
  ...pathsIn(page)
    .filter((path) => !existsSync(ROOT + path))
    .map((path) => `no such file: ${path}`),
  ...linksIn(page)
    .filter((link) => !existsSync(join(ROOT, dirname(SECURITY), link)))
    .map((link) => `no such file: ${link}`),
  ...rowsOf(page).flatMap(({ id, status, why }) => [
    ...(STATUSES.includes(status) ? [] : [`no status: ${id}`]),
    ...(status === 'met' && !tested.has(id) ? [`met without a test: ${id}`] : []),
    ...(why === '' ? [`no reason: ${id}`] : []),
  ]),
];

const CRYPTOGRAPHY = /from '(?:node:crypto|jose|bcrypt)'/;

describe('docs/security.md', () => {
  const page = readText(SECURITY);
  const tested = new Set(idsIn(readText(APPENDIX)));

  it('references existing files and records, and has a test for every requirement that is met', () => {
    expect(tested.size).toBeGreaterThan(100);
    expect(problemsOf(page, tested)).toEqual([]);
  });

  it('has every requirement of levels 1 and 2 of its ASVS chapters once', () => {
    const rows = page
      .slice(page.indexOf(CHAPTERS))
      .split('\n')
      .filter((line) => /^\| \d/.test(line));
    expect(rows.filter((line) => !REQUIREMENT.test(line))).toEqual([]);
    expect(rowsOf(page).flatMap(({ numbers }) => numbers)).toEqual(REQUIRED);
  });

  it('states for every attack the defence, its test and the remaining risk', () => {
    const attacks = page.slice(0, page.indexOf(CHAPTERS)).split('\n');
    const rows = attacks.filter((line) => /^\| (?!Id )/.test(line)).map((line) => line.slice(2, -2).split(' | '));
    expect(rows.length).toBeGreaterThan(30);
    const whole = rows.filter((row) => row.length === 4 && row.every((cell) => cell.trim() !== ''));
    expect(rows.filter((row) => !whole.includes(row))).toEqual([]);
    const untested = whole.filter(([id = '']) => !tested.has(id));
    expect(untested.filter(([, , stops = '']) => !stops.startsWith('Nothing: '))).toEqual([]);
  });

  // Proves: asvs-11.1.2, asvs-11.4.1
  it('lists every source file that uses cryptography, and no other', () => {
    const listed = tableBelow(page, 'Inventory of cryptography').flatMap(([, , where = '']) => linksIn(where));
    const using = globSync('src/**/*.ts', { cwd: ROOT }).filter((path) =>
      CRYPTOGRAPHY.test(readFileSync(ROOT + path, 'utf8')),
    );
    const byUrl = [
      'src/adapters/mailer/smtp.ts',
      'src/adapters/mikro-orm/postgresql.ts',
      'src/adapters/redis/connect.ts',
    ];
    const paths = new Set(listed.map((link) => join(dirname(SECURITY), link)));
    expect([...paths].sort()).toEqual([...using, ...byUrl].sort());
  });

  it.each([
    ['a record', '](adr/', '](adr/planted-'],
    ['a source', '](../src/', '](../planted/'],
  ])('is refused with %s that does not exist', (_what, real, planted) => {
    const damaged = page.replace(real, planted);
    expect(damaged).not.toBe(page);
    expect(problemsOf(damaged, tested)).toContainEqual(expect.stringContaining('planted'));
  });
});

describe('a requirement', () => {
  it.each([
    ['met with a test is correct', '| 9.1.1 | 1 | It works | met | Yes |', []],
    ['that is not met needs no test', '| 9.1.1 | 1 | It works | not met | Not yet |', []],
    ['met without a test is wrong', '| 9.1.2 | 1 | It works | met | Of course |', ['met without a test: asvs-9.1.2']],
    [
      'of NIST that is met without a test is wrong',
      '| nist-1 | 2.2 | It works | met | Yes |',
      ['met without a test: nist-1'],
    ],
    ['with an unknown status is wrong', '| 9.1.1 | 1 | It works | partly | Yes |', ['no status: asvs-9.1.1']],
    ['without a reason is wrong', '| 9.1.1 | 1 | It works | not applicable |  |', ['no reason: asvs-9.1.1']],
  ])('%s', (_what, row, problems) => {
    expect(problemsOf(`${row}\n`, new Set(['asvs-9.1.1']))).toEqual(problems);
  });
});

describe('SECURITY.md', () => {
  it('links to files that exist', () => {
    const links = linksIn(readText('SECURITY.md'));
    expect(links).toContain(SECURITY);
    expect(links.filter((link) => !existsSync(ROOT + link))).toEqual([]);
  });
});
