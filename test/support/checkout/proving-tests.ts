import { globSync } from 'node:fs';
import { basename } from 'node:path';
import { ROOT, readText } from './repository.ts';

/** Test files by the ids of the rows that they prove. A file names them in comments such as `// Proves SPEC 3.1, 3.2; ASVS 6.2.1; mail-9`. */
export const provingTests = (): Map<string, string[]> => {
  const files = new Map<string, string[]>();
  for (const file of globSync('test/**/*.ts', { cwd: ROOT }).toSorted()) {
    for (const [, ids = ''] of readText(file).matchAll(/^\/\/ Proves (.+)$/gm)) {
      for (const id of ids.replaceAll(/SPEC |ASVS /g, '').split(/[,;] /)) {
        files.set(id, [...(files.get(id) ?? []), file]);
      }
    }
  }
  return files;
};

/** The numbers of requirements of SPEC or ASVS in a text, also those within ranges. */
export const numbersIn = (text: string): string[] =>
  [...text.matchAll(/(\d+(?:\.\d+)?)\.(\d+)(?:–\1\.(\d+))?/g)].flatMap(([, section, first, last = first]) =>
    Array.from({ length: Number(last) - Number(first) + 1 }, (_, at) => `${section}.${Number(first) + at}`),
  );

/** The ids in the first cell of a row: one of an attack, such as `theft-1`, or one or more of SPEC (two numbers) or ASVS (three). */
export const idsOf = (cell: string): string[] => {
  const [id] = /^(?:[a-z]+-\d+|\d+\.\d+(?:\.\d+)?)\b/.exec(cell) ?? [];
  if (id === undefined) return [];
  return /^\d/.test(id) ? numbersIn(cell) : [id];
};

const ROW = /^(\| ([^|]+) \|.*\|)[^|]*\|$/gm;

/** A page, with links to the tests that prove each row in the row's last cell. */
export const withTests = (page: string): string => {
  const tests = provingTests();
  return page.replaceAll(ROW, (row, before: string, cell: string) => {
    const ids = idsOf(cell);
    if (ids.length === 0) return row;
    const files = new Set(ids.flatMap((id) => tests.get(id) ?? []));
    const links = [...files].map((file) => `[${basename(file).replace(/\..*$/, '')}](../${file})`);
    return [before, links.join(', '), '|'].filter((part) => part !== '').join(' ');
  });
};
