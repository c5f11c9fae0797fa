import { VERSION } from '../../version.ts';
import type { Examined } from './examine.ts';
import type { Finding, Severity } from './finding.ts';

type Counts = Readonly<Record<Severity, number>>;

export const countsOf = (groups: readonly Examined[]): Counts => {
  const all = groups.flatMap(({ findings }) => findings);
  const count = (severity: Severity) => all.filter((finding) => finding.severity === severity).length;
  return { ok: count('ok'), note: count('note'), warning: count('warning'), problem: count('problem') };
};

/** The report for programs: one object, on one line. */
export const jsonReport = (groups: readonly Examined[]): string =>
  `${JSON.stringify({ version: VERSION, counts: countsOf(groups), findings: groups.flatMap(({ findings }) => findings) })}\n`;

const WIDTH = 'warning'.length;

/** The report for people. */
export const textReport = (groups: readonly Examined[]): string => {
  const parts = groups.map(({ title, findings }) => `${title}\n${findings.map(linesOf).join('')}`);
  return `${parts.join('\n')}\n${summaryOf(countsOf(groups))}\n`;
};

const linesOf = ({ id, severity, seen, advice }: Finding): string => {
  const line = `  ${severity.padEnd(WIDTH)}  ${seen} [${id}]\n`;
  return advice === null ? line : `${line}  ${' '.repeat(WIDTH)}  → ${advice}\n`;
};

const counted = (count: number, name: string): string => `${count} ${name}${count === 1 ? '' : 's'}`;

const summaryOf = ({ problem, warning, note }: Counts): string =>
  `${counted(problem, 'problem')}, ${counted(warning, 'warning')}, ${counted(note, 'note')}.`;
