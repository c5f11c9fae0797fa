import { globSync } from 'node:fs';
import { existingTests, type NamedTest } from './named-tests.ts';
import { ROOT, readText } from './repository.ts';

/**
 * Pages with tables of promises. The first cell of a row is the id of its promise. A test that proves promises has their ids in a
 * comment directly above it: `// Proves: cookie-3, asvs-3.3.4`. `npm run docs` writes the names of the tests into the tables of the
 * one page, and into an appendix of the other.
 */
export const COVERAGE = 'docs/spec-coverage.md';
export const SECURITY = 'docs/security.md';
export const APPENDIX = 'docs/security-tests.md';

/** The tests that prove each promise, by its id. */
export type Proofs = ReadonlyMap<string, readonly string[]>;

const TAG = /^\s*\/\/ Proves: (.+)$/;
const TEST = /^\s*it\b/;
const ID = /^(?:[a-z]+-)+\d+(?:\.\d+)*$/;
/** The number of a requirement of OWASP ASVS, or of the first of several. */
const ASVS = /^(\d+\.\d+\.\d+)(?:–|$)/;
/** The column to write, by its heading. */
const TEST_COLUMN = /^Test/;

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
      const cells = cellsOf(line).map((cell, at) => (at === column ? names.join('<br>') : cell));
      return `| ${cells.join(' | ')} |`;
    })
    .join('\n');
};

const APPENDIX_HEAD = `# The tests behind docs/security.md

\`npm run docs\` writes this page from comments such as \`// Proves: asvs-3.3.4\` above the tests. A test is named by its file and its titles as
in the source: \`%s\`, \`$title\` and the like stand for the cases of a table. The id of an ASVS requirement is \`asvs-\` and its number.

| Id | Tests |
|---|---|`;

/** The appendix: a row for each promise of a page that has tests. */
export const appendixOf = (page: string, proofs: Proofs): string => {
  const rows = idsIn(page).filter((id) => proofs.has(id));
  return `${withProofs([APPENDIX_HEAD, ...rows.map((id) => `| ${id} | |`)].join('\n'), proofs)}\n`;
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
