import { setTimeout as pause } from 'node:timers/promises';
import { loadWithCost } from '../load/cost.ts';
import { type Group, load } from '../load/load.ts';
import { BESIDE_TWO, BOTH, type Cores, FIRST, move } from '../machine/cores.ts';
import { withChildren } from '../machine/processes.ts';
import type { Parts } from '../parts/parts.ts';
import { type Server, startServer } from '../parts/server.ts';
import { median } from '../report/statistics.ts';
import { figure, type Section, table } from '../report/table.ts';
import { TANDEM } from '../systems/systems.ts';
import { loggingIn, logInAll, refreshing } from '../workloads/clients.ts';
import { type PreparedSystem, prepare } from '../workloads/prepared-system.ts';
import type { Spans } from '../workloads/spans.ts';
import { type Attempt, type Turn, takeTurns } from '../workloads/turns.ts';

const WORKLOADS = ['refresh', 'log-in'] as const;

type Setting = { readonly title: string; readonly workers: number; readonly cores: Cores };
const SETTINGS: readonly Setting[] = [
  { title: 'one worker on a core', workers: 1, cores: FIRST },
  { title: 'two workers on two cores', workers: 2, cores: BOTH },
];

/** Clients that log in at once: with more, those of one core would wait too long when the machine is slow. */
const LOGGING_IN = 16;
/** How often the settings take turns in a round. */
const TURNS = 3;
/** Milliseconds until all workers listen. */
const STARTING = 3_000;
/** Milliseconds of a turn, in which workers that were idle find their code in the caches again. */
const TURN = { refresh: { warmUp: 300, duration: 2_000 }, 'log-in': { warmUp: 1_000, duration: 4_000 } };

type Figures = { readonly perSecond: number[]; readonly cpu: number[] };
type Running = Setting & { readonly server: Server; readonly figures: Record<(typeof WORKLOADS)[number], Figures> };

/** Both count in Redis. */
const start = async ({ system, storage }: PreparedSystem, setting: Setting): Promise<Running> => {
  const env = { ...system.env, ...storage, WORKERS: String(setting.workers) };
  const server = await startServer(system.program, env, setting.cores);
  const none = (): Figures => ({ perSecond: [], cpu: [] });
  return { ...setting, server, figures: { refresh: none(), 'log-in': none() } };
};

/** What two workers carry, beside one. */
export const measureWorkers = async (
  parts: Parts,
  rounds: number,
  spans: Spans,
  attempt: Attempt,
): Promise<Section> => {
  const prepared = await prepare(TANDEM, parts);
  const { calls } = prepared.system;
  const running: Running[] = [];
  // The load client and the databases have the same cores both times.
  move([process.pid], BESIDE_TWO);
  parts.move(BESIDE_TWO);
  try {
    for (const setting of SETTINGS) running.push(await start(prepared, setting));
    await pause(STARTING);
    for (const workload of WORKLOADS) {
      const turns: Turn[] = [];
      for (const { title, workers, server, figures } of running) {
        const { origin, pid } = server;
        const actors =
          workload === 'refresh'
            ? (await logInAll(origin, calls, prepared.people)).map(refreshing(calls))
            : loggingIn(calls, prepared.people, LOGGING_IN);
        const group: Group = { origin, actors };
        const take = async () => {
          const { perSecond, cpu } = await loadWithCost([group], withChildren(pid), TURN[workload]);
          figures[workload].perSecond.push(perSecond);
          figures[workload].cpu.push(cpu);
        };
        await load([group], { warmUp: 0, duration: workers * spans.fast.warmUp });
        turns.push({ name: `tandem workers: ${title}`, take });
      }
      await takeTurns(turns, rounds * TURNS, attempt);
    }
  } finally {
    for (const { server } of running) await server.stop();
  }
  return sectionOf(running);
};

const sectionOf = (running: readonly Running[]): Section => {
  const rows = WORKLOADS.flatMap((workload) =>
    running.map(({ title, figures }) => {
      const { perSecond, cpu } = figures[workload];
      const times = perSecond.map((each, turn) => each / (running[0]?.figures[workload].perSecond[turn] ?? Number.NaN));
      const cells = [figure(median(perSecond), 1), figure(median(times), 2), figure(median(cpu), 3)];
      return [`${workload}, ${title}`, ...cells];
    }),
  );
  return {
    title: 'Tandem: workers',
    text: [
      'In turns. Limits are counted in Redis. On a machine with two cores, the load client and the databases need the second core themselves, so two workers cannot be faster: there, the processor time of a request, that of all processes of the service, tells what they cost.',
      table(['', '/s', 'times', 'CPU, ms a request'], rows),
    ].join('\n\n'),
  };
};
