import { spawnSync } from 'node:child_process';
import { writeSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { Fault } from './faults.ts';
import { MUTANTS, plant } from './mutants.ts';
import './process.ts';
import { RULES, type Rule } from './rules.ts';
import type { Options, Result } from './run.ts';

const text = { type: 'string' } as const;
const flag = { type: 'boolean' } as const;
/**
 * `from`: the first seed as a date, such as 2027-01-31, so that every day has new seeds. `mutants`: the numbers of faults to plant one after the other,
 * such as 3-7; each of them runs until the first seed that finds it.
 */
const OPTIONS = { seeds: text, seed: text, from: text, minutes: text, days: text, faults: text, mutants: text };
const { values } = parseArgs({ options: { ...OPTIONS, trace: flag, minimise: flag } });
const { seeds = values.seed ?? '20-52', from = '', minutes = 'Infinity', mutants = '0' } = values;
const FOUND = 2;
const say = (line: string, to = 1) => void writeSync(to, `${line}\n`);
const rangeOf = (text: string): [first: number, last: number] => {
  const [first = 1, last = first] = text.split('-').map(Number);
  return [first, last];
};

const [firstMutant, lastMutant] = rangeOf(mutants);
if (lastMutant > firstMutant) {
  for (let number = firstMutant; number <= lastMutant; number += 1) {
    const own = ['--days', values.days ?? '0.1', '--seeds', seeds, '--mutants', `${number}`];
    say(`\n${number} ${MUTANTS[number - 1]?.name}`);
    const { status } = spawnSync(process.execPath, [import.meta.filename, ...own], { stdio: 'inherit' });
    if (status !== FOUND) process.exitCode = 1;
  }
  process.exit();
}
const mutant = MUTANTS[firstMutant - 1];
if (mutant) plant(mutant);
const { ALL_FAULTS } = await import('./faults.ts');
const { runWorld } = await import('./run.ts');
const faults = (values.faults?.split(',') as Fault[] | undefined) ?? ALL_FAULTS;
const given: Options = { faults, days: Number(values.days ?? 0) };

/** Finds shorter options with the same violation: fewer faults, and fewer days. */
const minimised = async (seed: number, { violation, days }: Result): Promise<Options> => {
  let least = { ...given, days };
  const attempt = async (smaller: Options): Promise<void> => {
    if ((await runWorld(seed, smaller)).violation?.rule === violation?.rule) least = smaller;
  };
  for (const fault of faults) await attempt({ ...least, faults: least.faults.filter((each) => each !== fault) });
  for (let halves = 0; halves < 3; halves += 1) await attempt({ ...least, days: least.days / 2 });
  return least;
};

// This world loads all modules that are loaded on first use, so that no later world depends on the worlds before it.
await runWorld(0, { faults: ALL_FAULTS, days: 0.02 });
const begun = process.uptime();
const idle = new Set(Object.keys(RULES) as Rule[]);
let [worlds, broken] = [0, 0];
const [first, last] = from ? [Number(from.replaceAll('-', '')) * 1_000, Number.POSITIVE_INFINITY] : rangeOf(seeds);
const isOver = () => process.uptime() - begun >= 60 * Number(minutes) || (mutant && broken > 0);
for (let seed = first; seed <= last && !isOver(); seed += 1) {
  const start = process.uptime();
  const result = await runWorld(seed, { ...given, write: values.trace ? say : undefined });
  const { hash, days, events, requests, violation } = result;
  const seconds = (process.uptime() - start).toFixed(1);
  say(`${seed} ${hash} ${days} days, ${requests} requests, ${events} events, ${seconds} s`);
  for (const rule of result.judged) idle.delete(rule);
  worlds += 1;
  if (violation === undefined) continue;
  broken += 1;
  const least = values.minimise ? await minimised(seed, result) : { ...given, days };
  const own = least.faults === ALL_FAULTS ? '' : ` --faults ${least.faults}`;
  say(`  ! ${violation.text}\n  npm run simulate -- --trace --seed ${seed} --days ${least.days}${own}`, 2);
}
say(`rules that were never judged: ${[...idle].join('; ') || 'none'}\n${worlds} seeds, ${broken} with violations`);
process.exit(broken > 0 ? FOUND : 0);
