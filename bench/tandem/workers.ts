import { setTimeout as pause } from 'node:timers/promises';
import { loadWithCost } from '../load/cost.ts';
import type { Actor } from '../load/load.ts';
import { BESIDE_TWO, BOTH, FIRST, move } from '../machine/cores.ts';
import { withChildren } from '../machine/processes.ts';
import type { Parts } from '../parts/parts.ts';
import { startServer } from '../parts/server.ts';
import { median } from '../report/statistics.ts';
import { figure, type Section, table } from '../report/table.ts';
import { TANDEM } from '../systems/systems.ts';
import { CLIENTS, loggingIn, logInAll, refreshing } from '../workloads/clients.ts';
import { type PreparedSystem, prepare } from '../workloads/prepared-system.ts';
import type { Spans } from '../workloads/spans.ts';

type Figures = { readonly perSecond: number[]; readonly cpu: number[] };
type Workload = 'refresh' | 'log-in';
const WORKLOADS: readonly Workload[] = ['refresh', 'log-in'];

/** Milliseconds until all workers listen. */
const STARTING = 3_000;

/** A service with as many workers as cores. Limits are counted in its first process. */
const measure = async (
  { system: { program, env, calls }, storage: { DATABASE_URL }, people }: PreparedSystem,
  workers: number,
  spans: Spans,
  record: (workload: Workload, perSecond: number, cpu: number) => void,
): Promise<void> => {
  const cores = workers === 1 ? FIRST : BOTH;
  const { origin, pid, stop } = await startServer(program, { ...env, DATABASE_URL, WORKERS: String(workers) }, cores);
  try {
    await pause(STARTING);
    const actors: Record<Workload, readonly Actor[]> = {
      refresh: (await logInAll(origin, calls, people)).map(refreshing(calls)),
      'log-in': loggingIn(calls, people, CLIENTS),
    };
    for (const workload of WORKLOADS) {
      const span = workload === 'refresh' ? { ...spans.fast, duration: 3 * spans.fast.duration } : spans.logIn;
      const { perSecond, cpu } = await loadWithCost([{ origin, actors: actors[workload] }], withChildren(pid), span);
      record(workload, perSecond, cpu);
    }
  } finally {
    await stop();
  }
};

/** What two workers on two cores carry, beside one process on a core. */
export const measureWorkers = async (parts: Parts, rounds: number, spans: Spans): Promise<Section> => {
  const prepared = await prepare(TANDEM, parts);
  const figures = new Map<string, Figures>();
  const of = (workload: Workload, count: number): Figures => {
    const key = `${workload} ${count}`;
    const known = figures.get(key) ?? { perSecond: [], cpu: [] };
    figures.set(key, known);
    return known;
  };
  // The load client and the databases have the same cores both times.
  move([process.pid], BESIDE_TWO);
  parts.move(BESIDE_TWO);
  for (let round = 0; round < rounds; round += 1) {
    for (const workers of [1, 2]) {
      await measure(prepared, workers, spans, (workload, perSecond, cpu) => {
        of(workload, workers).perSecond.push(perSecond);
        of(workload, workers).cpu.push(cpu);
      });
    }
  }
  const rows = WORKLOADS.map((workload) => {
    const [one, two] = [of(workload, 1), of(workload, 2)];
    const times = median(two.perSecond) / median(one.perSecond);
    const rates = [one, two].map(({ perSecond }) => figure(median(perSecond), 1));
    const cpu = [one, two].map(({ cpu }) => figure(median(cpu), 3));
    return [workload, ...rates, figure(times, 2), ...cpu];
  });
  return {
    title: 'Tandem: WORKERS=2 on two cores, and one process on one',
    text: [
      'On a machine with two cores the load client and the databases take their share of them; the time that the servers compute for a request shows whether a second worker makes the first one slower. Without Redis: limits are counted in the first process.',
      table(['', 'one, /s', 'two, /s', 'times', 'CPU of one, ms a request', 'CPU of two, ms a request'], rows),
    ].join('\n\n'),
  };
};
