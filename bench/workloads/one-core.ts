import { loadWithCost } from '../load/cost.ts';
import { type Actor, load } from '../load/load.ts';
import { FIRST, move, OTHERS } from '../machine/cores.ts';
import { residentMemory } from '../machine/processes.ts';
import type { Options } from '../options.ts';
import type { Parts } from '../parts/parts.ts';
import { type Server, startServer } from '../parts/server.ts';
import type { RecordSample } from '../report/samples.ts';
import type { Calls, Credentials, System } from '../systems/system.ts';
import { asking, logInAll, refreshing } from './clients.ts';
import type { PreparedSystem } from './prepared-system.ts';
import type { Spans } from './spans.ts';
import { type Attempt, type Turn, takeTurns } from './turns.ts';

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

type Runner = PreparedSystem & { readonly server: Server };

/**
 * All systems run on the same core, and each in its turn has work for a second, after thousands of requests in which V8 compiles what
 * it runs. They are started anew in each round: two processes of one system were seen to differ by a third.
 */
export const measureOnOneCore = async (
  prepared: readonly PreparedSystem[],
  parts: Parts,
  { wants }: Options,
  spans: Spans,
  record: RecordSample,
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
      await measureInTurns(workload, having, spans, record, attempt);
    }
    for (const { system, server } of running) {
      // The others have done more by the end of what runs on all cores.
      const { workloads } = system;
      if (!workloads.includes('flood') && workloads.includes('start'))
        record(system.name, 'memoryAfter', residentMemory(server.pid));
    }
  } finally {
    for (const { server } of running) await server.stop();
  }
};

const measureInTurns = async (
  workload: Fast,
  running: readonly Runner[],
  { fast, compiling }: Spans,
  record: RecordSample,
  attempt: Attempt,
): Promise<void> => {
  const turns: Turn[] = [];
  for (const { system, server, people } of running) {
    const { name, calls } = system;
    await attempt(name, async () => {
      const { origin, pid } = server;
      const loggedIn = await logInAll(origin, calls, people);
      const group = { origin, actors: loggedIn.map(actorOf(workload, calls)) };
      let made = 0;
      do made += (await load([group], { warmUp: 0, duration: fast.warmUp }))[0]?.count ?? 0;
      while (made < compiling);
      const take = async () => {
        const { perSecond, cpu } = await loadWithCost([group], [pid], { ...fast, warmUp: SETTLING });
        record(name, workload, perSecond);
        record(name, `${workload}Cpu`, cpu);
      };
      turns.push({ name, take });
    });
  }
  await takeTurns(turns, TURNS, attempt);
};
