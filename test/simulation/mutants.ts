import { registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import pLimit from 'p-limit';
import { ROOT, readText } from '../support/checkout/repository.ts';
import { simulate } from './simulate.ts';

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

/** @returns what has found a mutant; `undefined` if nothing has. */
const findingOf = async (number: number, given: readonly string[]): Promise<string | undefined> => {
  const { output } = await simulate('--mutant', `${number}`, ...given);
  const [, seed, events, rule] = /^(\d+) .*\n {2}! after (\d+) events, \S+ \S+ (.+?) \(/m.exec(output) ?? [];
  if (rule) return `${rule}, seed ${seed}, after ${events} events`;
  if (!/seeds, \d+ with violations/.test(output)) throw new Error(`Mutant ${number} does not run: ${output}`);
  return undefined;
};

/** Runs mutants in two processes at a time. @returns the names of those that nothing has found. */
export const runMutants = async (
  range = `1-${MUTANTS.length}`,
  given: readonly string[],
  say: (line: string) => void,
) => {
  const [first = 1, last = first] = range.split('-').map(Number);
  const two = pLimit(2);
  const missed: string[] = [];
  const run = async ({ name }: Mutant, at: number): Promise<void> => {
    const finding = await findingOf(first + at, given);
    if (!finding) missed.push(name);
    say(`${first + at} ${name}: ${finding ?? 'NOT FOUND'}`);
  };
  await Promise.all(MUTANTS.slice(first - 1, last).map((mutant, at) => two(run, mutant, at)));
  return missed;
};
