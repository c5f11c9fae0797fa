import { globSync } from 'node:fs';
import { basename } from 'node:path';
import { ROOT, readText } from './repository.ts';

/** The files by the ids of the rows that they prove, as their comments such as `// Proves SPEC 3.1, 3.2; ASVS 6.2.1; mail-9` say. */
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

/** A row that begins with an id: of an attack, of SPEC (two numbers), of ASVS (three, or the first of a range). */
const ROW = /^(\| ((?:[a-z]+-\d+|\d+\.\d+(?:\.\d+)?)\b).*\|)[^|]*\|$/gm;

/** The page, with the tests of each such row in its last cell. */
export const withTests = (page: string): string => {
  const tests = provingTests();
  return page.replaceAll(ROW, (_row, before: string, id: string) => {
    const links = (tests.get(id) ?? []).map((file) => `[${basename(file).replace(/\..*$/, '')}](../${file})`);
    return [before, links.join(', '), '|'].filter((part) => part !== '').join(' ');
  });
};
