import { load } from '../load/load.ts';
import { ALL, move } from '../machine/cores.ts';
import type { Options } from '../options.ts';
import type { Parts } from '../parts/parts.ts';
import { type Server, startServer } from '../parts/server.ts';
import type { Metric, RecordSample } from '../report/samples.ts';
import { BCRYPT, compareAtOnce } from './bare-bcrypt.ts';
import { CLIENTS, loggingIn } from './clients.ts';
import type { PreparedSystem } from './prepared-system.ts';
import type { Spans } from './spans.ts';
import { type Attempt, type Turn, takeTurns } from './turns.ts';

const METRICS = [
  ['logIn16', 16],
  ['logIn64', CLIENTS],
] as const satisfies [Metric, number][];

/** How often all take turns in a round. */
const TURNS = 2;
/** How often as long as before a registration: V8 compiles what a log-in of Tandem runs until about two thousand of them. */
const WARM_UPS = 2;

/** On all cores, all systems and bare bcrypt in turn. */
export const measureLogIns = async (
  prepared: readonly PreparedSystem[],
  parts: Parts,
  { rounds, wants }: Options,
  spans: Spans,
  record: RecordSample,
  attempt: Attempt,
): Promise<void> => {
  move([process.pid], ALL);
  parts.move(ALL);
  const running: Server[] = [];
  const logIns: { name: string; work: (clients: number) => Promise<number> }[] = [];
  try {
    for (const { system, storage, people } of prepared) {
      const { name, program, env, calls, workloads } = system;
      if (!workloads.includes('log-in') || !wants(name, 'log-in')) continue;
      await attempt(name, async () => {
        const server = await startServer(program, { ...env, ...storage }, ALL);
        running.push(server);
        const group = (clients: number) => ({ origin: server.origin, actors: loggingIn(calls, people, clients) });
        await load([group(CLIENTS)], { warmUp: 0, duration: WARM_UPS * spans.warmUp.duration });
        const work = async (clients: number) => (await load([group(clients)], spans.logIn))[0]?.perSecond ?? Number.NaN;
        logIns.push({ name, work });
      });
    }
    if (wants(BCRYPT.name, 'log-in'))
      logIns.push({ name: BCRYPT.name, work: (clients) => compareAtOnce(clients, spans.logIn.duration) });
    for (const [metric, clients] of METRICS) {
      const turns = logIns.map(
        ({ name, work }): Turn => ({ name, take: async () => record(name, metric, await work(clients)) }),
      );
      await takeTurns(turns, rounds * TURNS, attempt);
    }
  } finally {
    for (const { stop } of running) await stop();
  }
};
