import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The root of the checkout. */
export const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

export const readText = (path: string): string => readFileSync(`${ROOT}${path}`, 'utf8');

/** The anchor that GitHub derives from a heading. */
export const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-');

/** The cells of the first Markdown table below a heading, without its header row and without backticks. */
export const tableBelow = (markdown: string, heading: string): string[][] => {
  const start = markdown.search(new RegExp(`^#+ ${heading}$`, 'm'));
  if (start < 0) throw new Error(`there is no heading ${heading}`);
  const lines = markdown.slice(start).split('\n');
  const first = lines.findIndex((line) => line.startsWith('|'));
  const length = lines.slice(first).findIndex((line) => !line.startsWith('|'));
  return lines.slice(first + 2, first + (length < 0 ? lines.length : length)).map(cellsOf);
};

const cellsOf = (row: string): string[] =>
  row
    .replaceAll('\\|', '\u0000')
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.replaceAll('\u0000', '|').replaceAll('`', '').trim());
