import { globSync } from 'node:fs';
import { existingTests, type NamedTest } from './named-tests.ts';
import { ROOT, readText } from './repository.ts';

/**
 * Pages with tables of promises. The first cell of a row is the id of its promise. A test that proves promises has their ids in a
 * comment directly above it: `// Proves: cookie-3, asvs-3.3.4`. `npm run docs` writes the names of the tests into the tables.
 */
export const PAGES = ['docs/spec-coverage.md', 'docs/security.md'];

/** The tests that prove each promise, by its id. */
export type Proofs = ReadonlyMap<string, readonly string[]>;

const TAG = /^\s*\/\/ Proves: (.+)$/;
const TEST = /^\s*it\b/;
const ID = /^(?:[a-z]+-)+\d+$/;
/** The number of a requirement of OWASP ASVS, or of the first of several. */
const ASVS = /^(\d+\.\d+\.\d+)(?:–|$)/;
/** The column to write, by its heading. */
const TEST_COLUMN = /^(?:Test|Shown by|How it is met)/;
/** The names of tests at the end of a cell, after its prose. */
const NAMES = /(?:(?:<br>|^)`test\/[^`]* › [^`]*`)+$/;

const cellsOf = (row: string): string[] =>
  row
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map((cell) => cell.trim());

/** The id in a row of a table, or `undefined` when it has none. */
const idOf = (row: string): string | undefined => {
  if (!row.startsWith('|')) return undefined;
  const [first = ''] = cellsOf(row);
  const [, number] = ASVS.exec(first) ?? [];
  if (number !== undefined) return `asvs-${number}`;
  return ID.test(first) ? first : undefined;
};

export const idsIn = (page: string): string[] => page.split('\n').flatMap((line) => idOf(line) ?? []);

/** The page with the names of the tests in its tables. */
export const withProofs = (page: string, proofs: Proofs): string => {
  let column = -1;
  return page
    .split('\n')
    .map((line, index, lines) => {
      if (lines[index + 1]?.startsWith('|---')) column = cellsOf(line).findIndex((head) => TEST_COLUMN.test(head));
      const id = idOf(line);
      if (id === undefined || column < 0) return line;
      const names = (proofs.get(id) ?? []).map((test) => `\`${test.replaceAll('|', '\\|')}\``);
      const cells = cellsOf(line).map((cell, at) =>
        at === column ? [cell.replace(NAMES, ''), ...names].filter((part) => part !== '').join('<br>') : cell,
      );
      return `| ${cells.join(' | ')} |`;
    })
    .join('\n');
};

/** The ids above a test, each with the number of its line; both counted from 0. */
const tagsAbove = (lines: readonly string[], test: number): { line: number; ids: string[] }[] => {
  let start = test;
  while (start > 0 && !TEST.test(lines[start] ?? '')) start -= 1;
  const tags: { line: number; ids: string[] }[] = [];
  for (let line = start - 1; line >= 0; line -= 1) {
    const [, ids] = TAG.exec(lines[line] ?? '') ?? [];
    if (ids === undefined) break;
    tags.push({ line, ids: ids.split(', ') });
  }
  return tags;
};

/** The proofs in the source, and the positions of tags that belong to no test. */
export const proofsIn = (
  sources: ReadonlyMap<string, string>,
  tests: readonly NamedTest[],
): { proofs: Proofs; strayTags: string[] } => {
  const proofs = new Map<string, string[]>();
  const used = new Set<string>();
  for (const { file, line, reference } of tests) {
    for (const tag of tagsAbove((sources.get(file) ?? '').split('\n'), line - 1)) {
      used.add(`${file}:${tag.line + 1}`);
      for (const id of tag.ids) proofs.set(id, [...new Set([...(proofs.get(id) ?? []), reference])]);
    }
  }
  const tagged = [...sources].flatMap(([file, text]) =>
    text.split('\n').flatMap((line, index) => (TAG.test(line) ? [`${file}:${index + 1}`] : [])),
  );
  return { proofs, strayTags: tagged.filter((place) => !used.has(place)) };
};

/** The proofs in this checkout. */
export const readProofs = async () =>
  proofsIn(
    new Map(globSync('test/**/*.ts', { cwd: ROOT }).map((file) => [file, readText(file)])),
    await existingTests(),
  );
