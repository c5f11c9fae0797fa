import { loadWithCost } from '../load/cost.ts';
import { type Actor, type Group, load } from '../load/load.ts';
import { FIRST, move, OTHERS } from '../machine/cores.ts';
import { residentMemory } from '../machine/processes.ts';
import type { Options } from '../options.ts';
import type { Parts } from '../parts/parts.ts';
import { type Server, startServer } from '../parts/server.ts';
import type { Metric } from '../report/samples.ts';
import type { Calls, Credentials, System } from '../systems/system.ts';
import { asking, logInAll, refreshing } from './clients.ts';
import type { PreparedSystem } from './prepared-system.ts';
import type { Spans } from './spans.ts';

/** What runs on one core, while the load client and the databases have the others. */
const WORKLOADS = ['refresh', 'session', 'me'] as const;
type Fast = (typeof WORKLOADS)[number];

/** How often all systems take turns in a round. */
const TURNS = 6;
/** Milliseconds in which a server that was idle finds its code in the caches again. */
const SETTLING = 200;

const actorOf = (workload: Fast, calls: Calls): ((credentials: Credentials) => Actor) => {
  if (workload === 'refresh') return refreshing(calls);
  const call = calls[workload];
  if (call === undefined) throw new Error(`there is no call for ${workload}`);
  return asking(call);
};

export type Attempt = (what: string, work: () => Promise<void>) => Promise<void>;
type Runner = PreparedSystem & { readonly server: Server };

/**
 * All systems run on the same core, and each in its turn has work for a second: the speed of a virtual machine changes by half from one minute to
 * the next, and hits all alike then. Each has worked for a quarter of a minute before, in which V8 compiles what it runs.
 */
export const measureOnOneCore = async (
  prepared: readonly PreparedSystem[],
  parts: Parts,
  { rounds, wants }: Options,
  spans: Spans,
  record: (system: System, metric: Metric, value: number) => void,
  attempt: Attempt,
): Promise<void> => {
  const wanted = ({ name, workloads }: System) =>
    WORKLOADS.filter((workload) => workloads.includes(workload) && wants(name, workload));
  move([process.pid], OTHERS);
  parts.move(OTHERS);
  const running: Runner[] = [];
  for (const each of prepared.filter(({ system }) => wanted(system).length > 0)) {
    const { program, env, name } = each.system;
    await attempt(name, async () => {
      running.push({ ...each, server: await startServer(program, { ...env, ...each.storage }, FIRST) });
    });
  }
  try {
    for (const workload of WORKLOADS) {
      const having = running.filter(({ system }) => wanted(system).includes(workload));
      await measureInTurns(workload, having, rounds * TURNS, spans, record, attempt);
    }
    for (const { system, server } of running) {
      // The others have done more by the end of what runs on all cores.
      const { workloads } = system;
      if (!workloads.includes('flood') && workloads.includes('start'))
        record(system, 'memoryAfter', residentMemory(server.pid));
    }
  } finally {
    for (const { server } of running) await server.stop();
  }
};

const measureInTurns = async (
  workload: Fast,
  running: readonly Runner[],
  turns: number,
  { fast }: Spans,
  record: (system: System, metric: Metric, value: number) => void,
  attempt: Attempt,
): Promise<void> => {
  const groups = new Map<Runner, Group>();
  for (const each of running) {
    const { system, server, people } = each;
    await attempt(system.name, async () => {
      const { origin } = server;
      const loggedIn = await logInAll(origin, system.calls, people);
      const group = { origin, actors: loggedIn.map(actorOf(workload, system.calls)) };
      await load([group], { warmUp: 0, duration: fast.warmUp });
      groups.set(each, group);
    });
  }
  for (let turn = 0; turn < turns; turn += 1) {
    // Nobody always works after the same one.
    const inOrder = turn % 2 === 0 ? [...groups] : [...groups].toReversed();
    for (const [{ system, server }, group] of inOrder)
      await attempt(system.name, async () => {
        const { perSecond, cpu } = await loadWithCost([group], [server.pid], { ...fast, warmUp: SETTLING });
        record(system, workload, perSecond);
        record(system, `${workload}Cpu`, cpu);
      });
  }
};
