import { describe, expect, it } from 'vitest';
import { idsIn, PAGES, proofsIn, readProofs, withProofs } from '../support/checkout/proofs.ts';
import { readText } from '../support/checkout/repository.ts';

describe('the pages with promises', async () => {
  const { proofs, strayTags } = await readProofs();

  /** The lines of a page that `npm run docs` would change. */
  const staleIn = (page: string): string[] => {
    const written = withProofs(page, proofs).split('\n');
    return page.split('\n').filter((line, index) => line !== written[index]);
  };

  it.each(PAGES)('contain the tests that `npm run docs` writes: %s', (path) => {
    const page = readText(path);
    expect(staleIn(page)).toEqual([]);
    expect(staleIn(page.replace(' › ', ' › planted '))).toHaveLength(1);
  });

  it('have a row for every id in a tag, and no id twice', () => {
    const ids = PAGES.flatMap((path) => idsIn(readText(path)));
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
    [
      'are added after the prose of their cell',
      '| Number | Status | How it is met |',
      '| 1.2.3–1.2.4 | met | Well, in `src/a.ts`. |',
      'Well, in `src/a.ts`.<br>`test/a.test.ts › x › y`',
    ],
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

  it('are found by the ids of the rows', () => {
    expect(idsIn(table(COVERAGE, '| a-1 | x | |\n| 1.2.3–1.2.4 | x | |\n| x | a-2 | |'))).toEqual([
      'a-1',
      'asvs-1.2.3',
    ]);
  });
});
