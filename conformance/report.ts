import { type Chosen, type Result, sourceOf } from './run.ts';

const MARKS = { held: 'ok  ', failed: 'FAIL', skipped: 'skip' } as const;

/** The lines of one result; of a failed check with its source, what was expected and what came. */
export const linesOf = ({ id, title, source, outcome, expected, got, reason }: Result): string => {
  const head = `  ${MARKS[outcome]}  ${id}: ${title}`;
  if (outcome === 'skipped') return `${head}\n        skipped: ${reason}`;
  return outcome === 'held' ? head : `${head}\n        ${source}\n        expected: ${expected}\n        got: ${got}`;
};

export const summaryOf = (results: readonly Result[]): Readonly<Record<Result['outcome'], number>> => {
  const count = (outcome: Result['outcome']) => results.filter((result) => result.outcome === outcome).length;
  return { held: count('held'), failed: count('failed'), skipped: count('skipped') };
};

export const summaryLine = (results: readonly Result[]): string => {
  const counts = Object.entries(summaryOf(results)).filter(([outcome, count]) => count > 0 || outcome !== 'skipped');
  return `${results.length} check${results.length === 1 ? '' : 's'}: ${counts.map(([outcome, count]) => `${count} ${outcome}`).join(', ')}.`;
};

export const listOf = (chosen: readonly Chosen[]): string =>
  chosen.map(({ check }) => `${check.id}: ${check.title}\n    ${sourceOf(check)}`).join('\n');
