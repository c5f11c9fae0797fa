import { parseArgs } from 'node:util';
import { readConfig } from '../config.ts';
import { examine } from './doctor/examine.ts';
import type { SetUp } from './doctor/finding.ts';
import { countsOf, jsonReport, textReport } from './doctor/report.ts';

const HELP = `npm run doctor               examines the environment and what it names, and reports; changes nothing
npm run -s doctor -- --json  the same as JSON

Exit status: 0 without a problem, 1 with a problem, 2 for invalid arguments.
`;

type Result = { readonly status: 0 | 1 | 2; readonly output: string; readonly errors: string };

/** The command `doctor`. @returns the exit status, and the texts for standard output and standard error. */
export const runDoctor = async (args: readonly string[], env: SetUp['env']): Promise<Result> => {
  const options = read(args);
  if (options instanceof Error) return { status: 2, output: '', errors: `${options.message}\n\n${HELP}` };
  if (options.help) return { status: 0, output: HELP, errors: '' };
  const place = { workingDirectory: process.cwd(), nodeArguments: process.execArgv };
  const groups = await examine({ ...readConfig(env), ...place, env });
  const output = options.json ? jsonReport(groups) : textReport(groups);
  return { status: countsOf(groups).problem > 0 ? 1 : 0, output, errors: '' };
};

const read = (args: readonly string[]) => {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: { json: { type: 'boolean', default: false }, help: { type: 'boolean', short: 'h', default: false } },
    });
    return values;
  } catch (error) {
    return error instanceof Error ? error : new Error('The arguments cannot be read.');
  }
};
