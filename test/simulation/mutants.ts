import { execFile } from 'node:child_process';
import { registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { ROOT, readText } from '../support/checkout/repository.ts';

/** Faults that are planted one at a time: each has to break a rule within the fixed seeds. */
export type Mutant = { readonly name: string; readonly file: string; readonly text: string; readonly by: string };

export const MUTANTS: readonly Mutant[] = readText('test/simulation/mutants.txt')
  .trim()
  .split('\n')
  .map((row) => {
    const [name = '', file = '', text = '', by = ''] = row.split(/ ::(?: |$)/);
    return { name, file: `src/${file}`, text, by };
  });

/** @throws Error if there is no such text, or more than one */
export const mutated = ({ name, file, text, by }: Mutant, source = readText(file)): string => {
  const [before = '', after, ...others] = source.split(text);
  if (after === undefined || others.length > 0) throw new Error(`"${name}" needs this text once in ${file}: ${text}`);
  return before + by + after;
};

/** Before anything of the service is imported. @param number from 1 */
export const plant = (number: number): void => {
  const mutant = MUTANTS[number - 1];
  if (mutant === undefined) throw new RangeError(`There are ${MUTANTS.length} mutants.`);
  const planted = pathToFileURL(ROOT + mutant.file).href;
  registerHooks({
    load(url, context, next) {
      const loaded = next(url, context);
      return url === planted ? { ...loaded, source: mutated(mutant, String(loaded.source)) } : loaded;
    },
  });
};

const LONGEST = 10 * 60_000;

/** @returns what has found a mutant; `null` if nothing has. */
const findingOf = async (number: number, given: readonly string[]): Promise<string | null> => {
  const command = ['test/simulation/main.ts', '--mutant', `${number}`, ...given];
  const options = { cwd: ROOT, timeout: LONGEST, maxBuffer: 1e9 };
  const { stdout, stderr } = await promisify(execFile)(process.execPath, command, options).catch((error) => error);
  const found = /^(\d+) .*\n {2}! after (\d+) events, \S+ \S+ (.+?) \(/m.exec(stdout);
  if (found) return `${found[3]}, seed ${found[1]}, after ${found[2]} events`;
  if (!/seeds, \d+ with violations/.test(stdout)) throw new Error(`Mutant ${number} does not run: ${stdout}${stderr}`);
  return null;
};

/** Runs mutants in two processes at a time. @returns the names of those that nothing has found. */
export const runMutants = async (
  range = `1-${MUTANTS.length}`,
  given: readonly string[],
  say: (line: string) => void,
) => {
  const [first = 1, last = first] = range.split('-').map(Number);
  const waiting = Array.from({ length: last - first + 1 }, (_, at) => first + at);
  const missed: string[] = [];
  const work = async (): Promise<void> => {
    for (let number = waiting.shift(); number !== undefined; number = waiting.shift()) {
      const finding = await findingOf(number, given).catch((error: Error) => void say(error.message));
      const name = `${number} ${MUTANTS[number - 1]?.name}`;
      if (!finding) missed.push(name);
      say(`${name}: ${finding ?? 'NOT FOUND'}`);
    }
  };
  await Promise.all([work(), work()]);
  return missed;
};
