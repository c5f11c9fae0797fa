import { setTimeout as pause } from 'node:timers/promises';
import { loadWithCost } from '../load/cost.ts';
import { load } from '../load/load.ts';
import { residentMemory } from '../machine/processes.ts';
import type { Options } from '../options.ts';
import type { Parts } from '../parts/parts.ts';
import type { Server } from '../parts/server.ts';
import type { Metric } from '../report/samples.ts';
import { percentile } from '../report/statistics.ts';
import type { Workload } from '../systems/system.ts';
import { asking, CLIENTS, loggingIn, logInAll, refreshing, registering } from './clients.ts';
import { type PreparedSystem, whileRunning } from './prepared-system.ts';
import type { Spans } from './spans.ts';

/** What runs on all cores, one system after the other. */
const WORKLOADS: readonly Workload[] = ['start', 'register', 'flood'];
/** Clients that register at once. */
export const REGISTERING = 16;

/** Milliseconds until a server that was started has nothing left to do. */
const SETTLING = 1_000;
/** Of each kind, and milliseconds between the requests of one. */
const BYSTANDERS = 8;
const EVERY = 20;

export const measureOnAllCores = async (
  prepared: PreparedSystem,
  parts: Parts,
  { wants }: Options,
  spans: Spans,
  record: (metric: Metric, value: number) => void,
): Promise<void> => {
  const { name, calls, workloads } = prepared.system;
  const wanted = WORKLOADS.filter((workload) => workloads.includes(workload) && wants(name, workload));
  if (wanted.length === 0) return;
  await whileRunning(prepared, parts, async (server) => {
    await pause(SETTLING);
    record('firstAnswer', server.firstAnswer / 1_000);
    record('memoryIdle', residentMemory(server.pid));
    const { origin } = server;
    if (wanted.some((workload) => workload !== 'start')) {
      await load([{ origin, actors: loggingIn(calls, prepared.people, CLIENTS) }], spans.warmUp);
    }
    if (wanted.includes('register')) {
      const actors = registering(calls, REGISTERING);
      record('register', (await loadWithCost([{ origin, actors }], [server.pid], spans.register)).perSecond);
    }
    if (wanted.includes('flood')) await measureFlood(prepared, server, spans, record);
    if (wanted.some((workload) => workload !== 'start')) record('memoryAfter', residentMemory(server.pid));
  });
};

/** How long a refresh and a guarded route take while more log in than the machine can hash for. */
const measureFlood = async (
  { system: { calls }, people }: PreparedSystem,
  { origin }: Server,
  spans: Spans,
  record: (metric: Metric, value: number) => void,
): Promise<void> => {
  const { session } = calls;
  if (session === undefined) throw new Error('there is no guarded route');
  const loggedIn = await logInAll(origin, calls, people.slice(0, 2 * BYSTANDERS));
  const [logIns, refreshes, guarded] = await load(
    [
      { origin, actors: loggingIn(calls, people, CLIENTS) },
      { origin, every: EVERY, actors: loggedIn.slice(0, BYSTANDERS).map(refreshing(calls)) },
      { origin, every: EVERY, actors: loggedIn.slice(BYSTANDERS).map(asking(session)) },
    ],
    spans.flood,
  );
  record('floodRefresh', percentile(refreshes?.latencies ?? [], 99));
  record('floodGuarded', percentile(guarded?.latencies ?? [], 99));
  record('floodLogIn', logIns?.perSecond ?? Number.NaN);
};
