import { parseArgs } from 'node:util';
import { readConfig } from '../config.ts';
import { VERSION } from '../version.ts';
import { type Examined, examine } from './doctor/examine.ts';
import type { Finding, SetUp, Severity } from './doctor/finding.ts';

const HELP = `npx tandem doctor            examines the environment and what it names, and reports; changes nothing
npx tandem doctor --json  the same as JSON

Exit status: 0 without a problem, 1 with a problem, 2 for invalid arguments.
`;

type Result = { readonly status: 0 | 1 | 2; readonly output: string; readonly errors: string };

/** The command `doctor`. @returns the exit status, and the texts for standard output and standard error. */
export const runDoctor = async (args: readonly string[], env: SetUp['env']): Promise<Result> => {
  const options = await read(args).catch((error: Error) => error);
  if (options instanceof Error) return { status: 2, output: '', errors: `${options.message}\n\n${HELP}` };
  if (options.help) return { status: 0, output: HELP, errors: '' };
  const place = { workingDirectory: process.cwd(), nodeArguments: process.execArgv };
  const groups = await examine({ ...readConfig(env), ...place, env });
  const output = options.json ? jsonReport(groups) : textReport(groups);
  return { status: countsOf(groups).problem > 0 ? 1 : 0, output, errors: '' };
};

/** @throws Error that says what is wrong with the arguments. */
const read = async (args: readonly string[]) =>
  parseArgs({
    args: [...args],
    options: { json: { type: 'boolean', default: false }, help: { type: 'boolean', short: 'h', default: false } },
  }).values;

type Counts = Readonly<Record<Severity, number>>;

const countsOf = (groups: readonly Examined[]): Counts => {
  const all = groups.flatMap(({ findings }) => findings);
  const count = (severity: Severity) => all.filter((finding) => finding.severity === severity).length;
  return { ok: count('ok'), note: count('note'), warning: count('warning'), problem: count('problem') };
};

/** The report for programs: one object, on one line. */
const jsonReport = (groups: readonly Examined[]): string =>
  `${JSON.stringify({ version: VERSION, counts: countsOf(groups), findings: groups.flatMap(({ findings }) => findings) })}\n`;

const WIDTH = 'warning'.length;

/** The report for people. */
const textReport = (groups: readonly Examined[]): string => {
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
