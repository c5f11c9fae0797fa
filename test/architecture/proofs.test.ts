import { describe, expect, it } from 'vitest';
import {
  APPENDIX,
  appendixOf,
  COVERAGE,
  idsIn,
  proofsIn,
  readProofs,
  SECURITY,
  withProofs,
} from '../support/checkout/proofs.ts';
import { readText } from '../support/checkout/repository.ts';

describe('the pages with promises', async () => {
  const { proofs, strayTags } = await readProofs();

  it('contain the tests that `npm run docs` writes', () => {
    const coverage = readText(COVERAGE);
    expect(withProofs(coverage, proofs)).toBe(coverage);
    expect(withProofs(coverage.replace(' › ', ' › planted '), proofs)).toBe(coverage);
    expect(appendixOf(readText(SECURITY), proofs)).toBe(readText(APPENDIX));
  });

  it('have a row for every id in a tag, and no id twice', () => {
    const ids = [COVERAGE, SECURITY].flatMap((path) => idsIn(readText(path)));
    expect([...proofs.keys()].filter((id) => !ids.includes(id))).toEqual([]);
    expect(ids.filter((id, index) => ids.indexOf(id) < index)).toEqual([]);
  });

  it('have only tags directly above a test', () => {
    expect(strayTags).toEqual([]);
  });
});

describe('a tag', () => {
  const FILE = 'test/a.test.ts';
  const proofsOf = (source: string, ...lines: number[]) => {
    const tests = lines.map((line, index) => ({ file: FILE, line, reference: `test ${index}` }));
    const { proofs, strayTags } = proofsIn(new Map([[FILE, source]]), tests);
    return { proofs: Object.fromEntries(proofs), strayTags };
  };

  it('belongs to the test below it', () => {
    expect(proofsOf(`// Proves: a-1, a-2\nit('x', () => {});\nit('y', () => {});`, 2, 3)).toEqual({
      proofs: { 'a-1': ['test 0'], 'a-2': ['test 0'] },
      strayTags: [],
    });
  });

  it('may have several lines', () => {
    expect(proofsOf(`  // Proves: a-1\n  // Proves: a-2\n  it('x', () => {});`, 3)).toEqual({
      proofs: { 'a-1': ['test 0'], 'a-2': ['test 0'] },
      strayTags: [],
    });
  });

  it('may be above the table of an `it.each`', () => {
    expect(proofsOf(`// Proves: a-1\nit.each([\n  ['item'],\n])('x', () => {});`, 4)).toEqual({
      proofs: { 'a-1': ['test 0'] },
      strayTags: [],
    });
  });

  it.each([
    ['above anything else', `// Proves: a-1\nconst one = 1;\nit('x', () => {});`, 3],
    ['with an empty line below', `// Proves: a-1\n\nit('x', () => {});`, 3],
    ['above a group', `// Proves: a-1\ndescribe('x', () => {\nit('x', () => {});\n});`, 3],
  ])('%s is reported', (_what, source, line) => {
    expect(proofsOf(source, line)).toEqual({ proofs: {}, strayTags: [`${FILE}:1`] });
  });
});

describe('the tests in a table', () => {
  const table = (head: string, row: string) => `text\n\n${head}\n|---|---|---|\n${row}\n\nmore`;
  const COVERAGE = '| Id | Promise | Test |';
  const PROOFS = new Map([
    ['a-1', ['test/a.test.ts › x › y', 'test/b.test.ts › z']],
    ['asvs-1.2.3', ['test/a.test.ts › x › y']],
  ]);

  it.each([
    ['are written', COVERAGE, '| a-1 | It works | |', '`test/a.test.ts › x › y`<br>`test/b.test.ts › z`'],
    [
      'replace previous ones',
      COVERAGE,
      '| a-1 | It works | `test/c.test.ts › c` |',
      '`test/a.test.ts › x › y`<br>`test/b.test.ts › z`',
    ],
    ['are removed where there are none', COVERAGE, '| a-2 | It works | `test/c.test.ts › c` |', ''],
  ])('%s', (_what, head, row, cell) => {
    const [first, second] = row.split(' | ');
    const page = withProofs(table(head, row), PROOFS);
    expect(page).toBe(table(head, `${first} | ${second} | ${cell} |`));
    expect(withProofs(page, PROOFS)).toBe(page);
  });

  it('are not added to rows without an id and tables without a test column', () => {
    for (const page of [table(COVERAGE, '| It works | a-1 | |'), table('| Id | Name | Text |', '| a-1 | b | |')]) {
      expect(withProofs(page, PROOFS)).toBe(page);
    }
  });

  it('are in an appendix for each row of a page that has some', () => {
    const page = table(
      '| Id | Promise | Status |',
      '| 1.2.3–1.2.4 | x | met |\n| a-1 | x | met |\n| a-2 | x | not met |',
    );
    const rows = appendixOf(page, PROOFS).trimEnd().split('\n').slice(-2);
    expect(rows).toEqual([
      '| asvs-1.2.3 | `test/a.test.ts › x › y` |',
      '| a-1 | `test/a.test.ts › x › y`<br>`test/b.test.ts › z` |',
    ]);
  });

  it('are found by the ids of the rows', () => {
    expect(idsIn(table(COVERAGE, '| a-1 | x | |\n| 1.2.3–1.2.4 | x | |\n| x | a-2 | |'))).toEqual([
      'a-1',
      'asvs-1.2.3',
    ]);
  });
});
