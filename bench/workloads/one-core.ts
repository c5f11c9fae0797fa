import { loadWithCost } from '../load/cost.ts';
import type { Actor } from '../load/load.ts';
import { FIRST } from '../machine/cores.ts';
import { residentMemory } from '../machine/processes.ts';
import type { Options } from '../options.ts';
import type { Parts } from '../parts/parts.ts';
import type { Metric } from '../report/samples.ts';
import type { Calls, Credentials } from '../systems/system.ts';
import { asking, logInAll, refreshing } from './clients.ts';
import { type PreparedSystem, whileRunning } from './prepared-system.ts';
import type { Spans } from './spans.ts';

/** What runs on one core, while the load client and the databases have the others. */
const WORKLOADS = ['refresh', 'session', 'me'] as const;

const actorOf = (workload: (typeof WORKLOADS)[number], calls: Calls): ((credentials: Credentials) => Actor) => {
  if (workload === 'refresh') return refreshing(calls);
  const call = calls[workload];
  if (call === undefined) throw new Error(`there is no call for ${workload}`);
  return asking(call);
};

export const measureOnOneCore = async (
  prepared: PreparedSystem,
  parts: Parts,
  { wants }: Options,
  spans: Spans,
  record: (metric: Metric, value: number) => void,
): Promise<void> => {
  const { name, calls, workloads } = prepared.system;
  const wanted = WORKLOADS.filter((workload) => workloads.includes(workload) && wants(name, workload));
  if (wanted.length === 0) return;
  await whileRunning(prepared, parts, FIRST, async ({ origin, pid }) => {
    const loggedIn = await logInAll(origin, calls, prepared.people);
    for (const workload of wanted) {
      const actors = loggedIn.map(actorOf(workload, calls));
      const { perSecond, cpu } = await loadWithCost([{ origin, actors }], [pid], spans.fast);
      record(workload, perSecond);
      record(`${workload}Cpu`, cpu);
    }
    // The others have done more by then, on all cores.
    if (!workloads.includes('flood') && workloads.includes('start')) record('memoryAfter', residentMemory(pid));
  });
};
