import { parseArgs } from 'node:util';
import type { Workload } from './systems/system.ts';

export type Options = {
  readonly quick: boolean;
  readonly growth: boolean;
  readonly rounds: number;
  /** Whether everything is measured. */
  readonly everything: boolean;
  readonly wants: (system: string, workload: string) => boolean;
};

export const USAGE = `npm run bench -- [--quick] [--rounds <n>] [--only <system>/<workload>,…] [--growth]

--quick   one short round, to see that everything works: its figures say nothing
--rounds  how often the systems take turns (3)
--only    systems, workloads or both: tandem,fastify-full  /refresh  tandem/flood,express/flood
--growth  what a thousand and a million users and sessions cost, instead of the comparison`;

/**
 * @param known the systems with their workloads.
 * @throws Error for what is not known.
 */
export const parseOptions = (
  args: readonly string[],
  known: ReadonlyMap<string, readonly (Workload | string)[]>,
): Options => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: 'boolean', default: false },
      growth: { type: 'boolean', default: false },
      rounds: { type: 'string' },
      only: { type: 'string', multiple: true, default: [] },
    },
  });
  const patterns = values.only.flatMap((list) => list.split(',')).map(patternOf);
  for (const [system, workload] of patterns) refuseUnknown(known, system, workload);
  const rounds = Number(values.rounds ?? (values.quick ? 1 : 3));
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error('--rounds: a whole number from 1');
  return {
    quick: values.quick,
    growth: values.growth,
    rounds,
    everything: patterns.length === 0,
    wants: (system, workload) =>
      patterns.length === 0 || patterns.some(([s, w]) => (s === '' || s === system) && (w === '' || w === workload)),
  };
};

const patternOf = (text: string): readonly [string, string] => {
  const [system = '', workload = ''] = text.split('/');
  return [system, workload];
};

const refuseUnknown = (known: ReadonlyMap<string, readonly string[]>, system: string, workload: string): void => {
  const systems = system === '' ? [...known.keys()] : [system];
  const matches = systems.some((name) => known.get(name)?.some((each) => workload === '' || each === workload));
  if (matches) return;
  const list = [...known].map(([name, workloads]) => `${name}: ${workloads.join(', ')}`).join('\n');
  throw new Error(`--only ${system}/${workload}: nothing of that name. There are\n${list}`);
};
