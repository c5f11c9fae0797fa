import { cpuTime } from '../machine/processes.ts';
import { type Group, load, type Span } from './load.ts';

/** `cpu`: milliseconds that these processes computed for a request. It tells most where other work shares the cores. */
export type Cost = { readonly perSecond: number; readonly cpu: number };

/** What all groups together achieve after a warm-up, and what it costs the servers. */
export const loadWithCost = async (
  groups: readonly Group[],
  servers: readonly number[],
  { warmUp, duration }: Span,
): Promise<Cost> => {
  await load(groups, { warmUp: 0, duration: warmUp });
  const before = cpuTime(servers);
  const measured = await load(groups, { warmUp: 0, duration });
  const computed = cpuTime(servers) - before;
  const total = (of: 'perSecond' | 'count') => measured.reduce((sum, each) => sum + each[of], 0);
  return { perSecond: total('perSecond'), cpu: computed / total('count') };
};
