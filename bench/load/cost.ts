import { cpuTime } from '../machine/processes.ts';
import { type Group, load, type Span } from './load.ts';

/** `cpu`: milliseconds that these processes computed for a request. It tells most where other work shares the cores. */
export type Cost = { readonly perSecond: number; readonly cpu: number };

/**
 * What all groups together achieve after a warm-up, and what it costs the servers. It begins with idle servers and ends with the
 * last answer, so that a server that answers many requests at once, now and then, gets its due.
 */
export const loadWithCost = async (
  groups: readonly Group[],
  servers: readonly number[],
  { warmUp, duration }: Span,
): Promise<Cost> => {
  await load(groups, { warmUp: 0, duration: warmUp });
  const before = cpuTime(servers);
  const startedAt = performance.now();
  const measured = await load(groups, { warmUp: 0, duration });
  const elapsed = performance.now() - startedAt;
  const count = measured.reduce((sum, each) => sum + each.count, 0);
  return { perSecond: (count * 1_000) / elapsed, cpu: (cpuTime(servers) - before) / count };
};
