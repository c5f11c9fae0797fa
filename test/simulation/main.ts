import { writeSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { Fault } from './faults.ts';
import { plant, runMutants } from './mutants.ts';
import { realTime } from './process.ts';
import { RULES, type Rule } from './rules.ts';
import type { Options, Result } from './run.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '20-28' },
    seed: { type: 'string' },
    /** Seeds that begin with a date, such as 2027-01-31: new ones every day. */
    from: { type: 'string' },
    minutes: { type: 'string', default: 'Infinity' },
    days: { type: 'string' },
    people: { type: 'string' },
    faults: { type: 'string' },
    without: { type: 'string', default: '' },
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
  const missed = await runMutants(values.mutant, ['--seeds', values.seeds, '--days', values.days ?? '0.1'], say);
  say(`not found: ${missed.join('; ') || 'none'}`);
  process.exit(missed.length > 0 ? 1 : 0);
}
if (values.mutant !== undefined) plant(Number(values.mutant));
const { ALL_FAULTS } = await import('./faults.ts');
const { runWorld } = await import('./run.ts');
const numberOf = (text: string | undefined) => (text === undefined ? undefined : Number(text));
const given: Options = {
  faults: (values.faults?.split(',') ?? ALL_FAULTS).filter(
    (each) => !values.without.split(',').includes(each),
  ) as Fault[],
  days: numberOf(values.days),
  people: numberOf(values.people),
  mostViolations: values.mutant === undefined ? undefined : 1,
};
const seedsOf = (): readonly [number, number] => {
  if (values.from !== undefined) return [Number(values.from.replaceAll('-', '')) * 1_000, Number.POSITIVE_INFINITY];
  const [first = 1, last = first] = (values.seed ?? values.seeds).split('-').map(Number);
  return [first, last];
};
const commandOf = (seed: number, { faults, days, people }: Options): string =>
  [
    `npm run simulate -- --trace --seed ${seed}`,
    faults?.length === ALL_FAULTS.length ? '' : ` --faults ${faults?.join() || 'none'}`,
    days === undefined ? '' : ` --days ${days}`,
    people === undefined ? '' : ` --people ${people}`,
  ].join('');

/** Leaves out what a violation does not need. */
const minimised = async (seed: number, { violations: [first], days }: Result, options: Options): Promise<Options> => {
  let least: Options = { ...options, days };
  const attempt = async (smaller: Options): Promise<void> => {
    const { violations } = await runWorld(seed, smaller);
    if (violations.some(({ rule }) => rule === first?.rule)) least = smaller;
  };
  for (const fault of options.faults ?? [])
    await attempt({ ...least, faults: least.faults?.filter((each) => each !== fault) });
  for (const people of [1, 2, 3]) if (least.people === undefined) await attempt({ ...least, people });
  for (let halves = 0; halves < 3; halves += 1) await attempt({ ...least, days: (least.days ?? 0) / 2 });
  return least;
};

const total = { seeds: 0, failed: 0, days: 0, requests: 0, events: 0 };
const looks = new Map<Rule, number>();
const add = (result: Result): void => {
  for (const name of ['days', 'requests', 'events'] as const) total[name] += result[name];
  total.seeds += 1;
  total.failed += Number(result.violations.length > 0);
  for (const [rule, { judged }] of result.looks) looks.set(rule, (looks.get(rule) ?? 0) + judged);
};

const begun = realTime();
const seconds = (since = begun) => (realTime() - since) / 1_000;
const judged = async (seed: number): Promise<void> => {
  const start = realTime();
  const result = await runWorld(seed, { ...given, trace: values.trace ? say : undefined });
  const { hash, days, events, requests, violations } = result;
  say(`${seed} ${hash} ${days} days in ${seconds(start).toFixed(1)} s, ${events} events, ${requests} requests`);
  add(result);
  for (const { rule, text, at } of violations) say(`  ! ${at} ${rule} (${RULES[rule]}): ${text}`);
  if (violations.length > 0)
    say(`  ${commandOf(seed, values.minimise ? await minimised(seed, result, given) : given)}`);
};

// Loads what is loaded when it is first used, so that no world differs from what it would be after another one.
await runWorld(0, { days: 0.02, people: 2 });
const [first, last] = seedsOf();
for (let seed = first; seed <= last && seconds() < 60 * Number(values.minutes); seed += 1) {
  await judged(seed);
  if (values.mutant !== undefined && total.failed > 0) break;
}
const idle = (Object.keys(RULES) as Rule[]).filter((rule) => !looks.get(rule));
say(`rules that were never judged: ${idle.join('; ') || 'none'}`);
say(`${total.seeds} seeds, ${total.failed} with violations, ${total.days.toFixed(1)} days, ${total.requests} requests`);
say(`${Math.round(total.events / seconds())} events a second`);
process.exit(total.failed > 0 ? 1 : 0);
