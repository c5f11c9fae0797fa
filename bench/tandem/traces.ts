import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { loadWithCost } from '../load/cost.ts';
import { load } from '../load/load.ts';
import { FIRST, move, OTHERS } from '../machine/cores.ts';
import type { Parts } from '../parts/parts.ts';
import { type Server, startServer } from '../parts/server.ts';
import { median } from '../report/statistics.ts';
import { figure, type Section, table } from '../report/table.ts';
import { TANDEM } from '../systems/systems.ts';
import { logInAll, refreshing } from '../workloads/clients.ts';
import { prepare } from '../workloads/prepared-system.ts';
import type { Spans } from '../workloads/spans.ts';
import { type Attempt, type Turn, takeTurns } from '../workloads/turns.ts';

/** Of each kind: two processes with the same settings differ by a tenth. */
const PROCESSES = 3;
/** How often all take turns in a round. */
const TURNS = 4;

type Figures = { readonly title: string; readonly perSecond: number[]; readonly cpu: number[] };

/** Takes all spans, and answers at once. */
const startCollector = async () => {
  const server = createServer((request, response) => {
    request.resume().once('end', () => response.end());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const stop = () => {
    server.close();
    server.closeAllConnections();
  };
  return { endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop };
};

/** What a refresh costs whose spans are all recorded, beside one without spans. */
export const measureTraces = async (
  parts: Parts,
  rounds: number,
  { fast, steady }: Spans,
  attempt: Attempt,
): Promise<Section> => {
  const { system, storage, people } = await prepare(TANDEM, parts);
  const { calls, program, env } = system;
  const collector = await startCollector();
  const kinds = { 'without spans': {}, 'with spans': { OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint } };
  const figures: readonly Figures[] = Object.keys(kinds).map((title) => ({ title, perSecond: [], cpu: [] }));
  const running: Server[] = [];
  const turns: Turn[] = [];
  move([process.pid], OTHERS);
  parts.move(OTHERS);
  try {
    for (let count = 0; count < PROCESSES; count += 1)
      for (const [kind, [title, settings]] of Object.entries(kinds).entries()) {
        const server = await startServer(program, { ...env, ...storage, ...settings }, FIRST);
        running.push(server);
        const { origin, pid } = server;
        const group = { origin, actors: (await logInAll(origin, calls, people)).map(refreshing(calls)) };
        await load([group], { warmUp: 0, duration: fast.warmUp });
        const take = async () => {
          const { perSecond, cpu } = await loadWithCost([group], [pid], steady);
          figures[kind]?.perSecond.push(perSecond);
          figures[kind]?.cpu.push(cpu);
        };
        turns.push({ name: `tandem traces: ${title}`, take });
      }
    await takeTurns(turns, rounds * TURNS, attempt);
  } finally {
    for (const { stop } of running) await stop();
    collector.stop();
  }
  return sectionOf(figures);
};

const sectionOf = (figures: readonly Figures[]): Section => {
  const [base] = figures;
  const rows = figures.map(({ title, perSecond, cpu }) => {
    const times = [median(perSecond) / median(base?.perSecond ?? []), median(cpu) / median(base?.cpu ?? [])];
    const [rate, cost] = times.map((each) => figure(each, 2));
    return [title, figure(median(perSecond), 0), `${rate}`, figure(median(cpu), 3), `${cost}`];
  });
  return {
    title: 'Tandem: refreshes whose spans are recorded',
    text: [
      `On one core, ${PROCESSES} processes of each kind in turns, each of which begins with a warm-up. All three spans of every refresh are sent to a collector, which runs beside the load client.`,
      table(['', '/s', 'times', 'CPU, ms a request', 'times'], rows),
    ].join('\n\n'),
  };
};
