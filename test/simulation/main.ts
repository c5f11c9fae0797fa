import { writeSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { Fault } from './faults.ts';
import { plant, runMutants } from './mutants.ts';
import { realTime } from './process.ts';
import { RULES, type Rule } from './rules.ts';
import type { Options, Result } from './run.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '20-40' },
    seed: { type: 'string' },
    /** Seeds that begin with a date, such as 2027-01-31: new ones every day. */
    from: { type: 'string' },
    minutes: { type: 'string', default: 'Infinity' },
    days: { type: 'string' },
    faults: { type: 'string' },
    trace: { type: 'boolean', default: false },
    minimise: { type: 'boolean', default: false },
    /** The number of a fault to plant: the run ends with the first seed that finds it. */
    mutant: { type: 'string' },
    /** Runs all mutants, or those that `--mutant` names, such as 3-7. */
    mutants: { type: 'boolean', default: false },
  },
});
const say = (line: string) => void writeSync(1, `${line}\n`);
if (values.mutants) {
  const missed = await runMutants(values.mutant, ['--seeds', values.seeds], say);
  say(`not found: ${missed.join('; ') || 'none'}`);
  process.exit(missed.length > 0 ? 1 : 0);
}
if (values.mutant !== undefined) plant(Number(values.mutant));
const { ALL_FAULTS } = await import('./faults.ts');
const { runWorld } = await import('./run.ts');
const given: Options = {
  faults: values.faults === undefined ? ALL_FAULTS : (values.faults.split(',') as Fault[]),
  days: values.days === undefined ? undefined : Number(values.days),
};
const rangeOf = (text: string): [first: number, last: number] => {
  const [first = 1, last = first] = text.split('-').map(Number);
  return [first, last];
};
const [first, last] =
  values.from === undefined
    ? rangeOf(values.seed ?? values.seeds)
    : [Number(values.from.replaceAll('-', '')) * 1_000, Number.POSITIVE_INFINITY];

/** Leaves out what a violation does not need. */
const minimised = async (seed: number, { violation, days }: Result): Promise<Options> => {
  let least: Options = { ...given, days };
  const attempt = async (smaller: Options): Promise<void> => {
    if ((await runWorld(seed, smaller)).violation?.rule === violation?.rule) least = smaller;
  };
  for (const fault of given.faults ?? [])
    await attempt({ ...least, faults: least.faults?.filter((each) => each !== fault) });
  for (let halves = 0; halves < 3; halves += 1) await attempt({ ...least, days: (least.days ?? 0) / 2 });
  return least;
};
const commandOf = (seed: number, { faults, days }: Options): string =>
  [
    `npm run simulate -- --trace --seed ${seed}`,
    ...(faults === ALL_FAULTS ? [] : [`--faults ${faults}`]),
    ...(days === undefined ? [] : [`--days ${days}`]),
  ].join(' ');

const total = { seeds: 0, failed: 0, days: 0, requests: 0, events: 0 };
const idle = new Set(Object.keys(RULES) as Rule[]);
const begun = realTime();
const seconds = (since = begun) => (realTime() - since) / 1_000;
const run = async (seed: number): Promise<void> => {
  const start = realTime();
  const result = await runWorld(seed, { ...given, trace: values.trace ? say : undefined });
  const { hash, days, events, requests, violation, judged } = result;
  say(`${seed} ${hash} ${days} days in ${seconds(start).toFixed(1)} s, ${events} events, ${requests} requests`);
  for (const name of ['days', 'requests', 'events'] as const) total[name] += result[name];
  for (const rule of judged) idle.delete(rule);
  total.seeds += 1;
  if (violation === undefined) return;
  total.failed += 1;
  say(`  ! ${violation.text}\n  ${commandOf(seed, values.minimise ? await minimised(seed, result) : given)}`);
};

// Loads what is loaded when it is first used, so that no world differs from what it would be after another one.
await runWorld(0, { days: 0.02 });
const isOver = () => seconds() >= 60 * Number(values.minutes) || (values.mutant !== undefined && total.failed > 0);
for (let seed = first; seed <= last && !isOver(); seed += 1) await run(seed);
say(`rules that were never judged: ${[...idle].join('; ') || 'none'}`);
say(`${total.seeds} seeds, ${total.failed} with violations, ${total.days.toFixed(1)} days, ${total.requests} requests`);
say(`${Math.round(total.events / seconds())} events a second`);
process.exit(total.failed > 0 ? 1 : 0);
