import { loadWithCost } from '../load/cost.ts';
import type { Group } from '../load/load.ts';
import { BESIDE_TWO, FIRST, move, SECOND } from '../machine/cores.ts';
import type { Parts } from '../parts/parts.ts';
import { startServer } from '../parts/server.ts';
import { median } from '../report/statistics.ts';
import { figure, type Section, table } from '../report/table.ts';
import type { Credentials } from '../systems/system.ts';
import { TANDEM } from '../systems/systems.ts';
import { CLIENTS, loggingIn, logInAll, refreshing } from '../workloads/clients.ts';
import { type PreparedSystem, prepare } from '../workloads/prepared-system.ts';
import type { Spans } from '../workloads/spans.ts';

type Figures = { readonly perSecond: number[]; readonly cpu: number[] };
type Workload = 'refresh' | 'log-in';
const WORKLOADS: readonly Workload[] = ['refresh', 'log-in'];

/** As many instances as cores are given, over the same databases, with the clients shared out among them. */
const measure = async (
  { system, storage, people }: PreparedSystem,
  cores: readonly string[],
  spans: Spans,
  record: (workload: Workload, perSecond: number, cpu: number) => void,
): Promise<void> => {
  const servers = await Promise.all(
    cores.map((core) => startServer(system.program, { ...system.env, ...storage }, core)),
  );
  try {
    const loggedIn = await logInAll(servers[0]?.origin ?? '', system.calls, people);
    const share = <T>(all: readonly T[], index: number) => all.filter((_, each) => each % servers.length === index);
    const groups: Record<Workload, Group[]> = {
      refresh: servers.map(({ origin }, index) => ({
        origin,
        actors: share<Credentials>(loggedIn, index).map(refreshing(system.calls)),
      })),
      'log-in': servers.map(({ origin }) => ({
        origin,
        actors: loggingIn(system.calls, people, CLIENTS / servers.length),
      })),
    };
    for (const workload of WORKLOADS) {
      const pids = servers.map(({ pid }) => pid);
      const span = workload === 'refresh' ? spans.fast : spans.logIn;
      const { perSecond, cpu } = await loadWithCost(groups[workload], pids, span);
      record(workload, perSecond, cpu);
    }
  } finally {
    await Promise.all(servers.map(({ stop }) => stop()));
  }
};

/** What two instances on a core each carry, beside one on a core. */
export const measureInstances = async (parts: Parts, rounds: number, spans: Spans): Promise<Section> => {
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
    for (const cores of [[FIRST], [FIRST, SECOND]]) {
      await measure(prepared, cores, spans, (workload, perSecond, cpu) => {
        of(workload, cores.length).perSecond.push(perSecond);
        of(workload, cores.length).cpu.push(cpu);
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
    title: 'Tandem: two instances on a core each, and one',
    text: [
      'On a machine with two cores the load client and the databases take their share of them; the time that the servers compute for a request shows whether a second instance makes the first one slower.',
      table(['', 'one, /s', 'two, /s', 'times', 'CPU of one, ms a request', 'CPU of two, ms a request'], rows),
    ].join('\n\n'),
  };
};
