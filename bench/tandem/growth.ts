import { setTimeout as pause } from 'node:timers/promises';
import { type Actor, load } from '../load/load.ts';
import { ALL } from '../machine/cores.ts';
import { cpuTime } from '../machine/processes.ts';
import type { Options } from '../options.ts';
import type { Parts } from '../parts/parts.ts';
import { type Server, startServer } from '../parts/server.ts';
import { progress } from '../report/progress.ts';
import { figure, type Section, table } from '../report/table.ts';
import type { Calls, Credentials } from '../systems/system.ts';
import { TANDEM } from '../systems/systems.ts';
import { loggingIn, newPeople, registerAll } from '../workloads/clients.ts';
import { takeTurns } from '../workloads/turns.ts';
import { type Counters, countStatements, forgetStatements, readCounters } from './database-counters.ts';
import { addUsers, EVENTS_EACH, SESSIONS_EACH, someOfThem } from './many-sessions.ts';
import { tableOfSizes, tableOfStatements } from './statements.ts';

const CLIENTS = 16;
/** People whose sessions are refreshed in turn, spread over the whole table. */
const SAMPLE = 4_000;
/** Milliseconds until PostgreSQL's counters of tables have heard of everything. */
const REPORTED = 2_000;

/** In turn among few and among many. */
const TURNS = 6;

/** What was done, and what it took. */
type Sums = Record<'count' | 'milliseconds' | 'server' | 'database', number>;
type Cost = {
  readonly perSecond: number;
  /** Milliseconds a request. */
  readonly server: number;
  readonly database: number;
  readonly statements: number;
  /** Share of the updates of sessions. */
  readonly hot: number;
};

/** A service whose database has so many users. */
type Among = { readonly size: number; readonly url: string; readonly server: Server; readonly sample: Credentials[] };

/** A client that refreshes one session after the other. */
const refreshingInTurn = (calls: Calls, sessions: Credentials[]): Actor => {
  const current = [...sessions];
  let turn = -1;
  return {
    next: () => {
      turn = (turn + 1) % current.length;
      return calls.refresh(current[turn] as Credentials);
    },
    heard: (answer) => {
      current[turn] = calls.refreshed(current[turn] as Credentials, answer);
    },
  };
};

const actorsOf = {
  refresh: (sample: readonly Credentials[]): Actor[] =>
    Array.from({ length: CLIENTS }, (_, client) =>
      refreshingInTurn(
        TANDEM.calls,
        sample.filter((_each, index) => index % CLIENTS === client),
      ),
    ),
  'log-in': (sample: readonly Credentials[]): Actor[] =>
    loggingIn(
      TANDEM.calls,
      sample.map(({ person }) => person),
      CLIENTS,
    ),
};
type Workload = keyof typeof actorsOf;

/** Starts a service, and fills its database. */
const startAmong = async (size: number, parts: Parts): Promise<Among> => {
  const storage = await parts.fresh();
  const url = storage.DATABASE_URL;
  await countStatements(url);
  const server = await startServer(TANDEM.program, { ...TANDEM.env, ...storage }, ALL);
  try {
    await registerAll(server.origin, TANDEM.calls, newPeople(1));
    progress(`adding ${size} users with sessions and events`);
    await addUsers(url, size);
    return { size, url, server, sample: await someOfThem(url, Math.min(SAMPLE, size)) };
  } catch (error) {
    await server.stop();
    throw error;
  }
};

/** What a request costs each of the services, which take turns. */
const costsOf = async (workload: Workload, all: readonly Among[], parts: Parts, duration: number): Promise<Cost[]> => {
  const measured = all.map(({ server: { origin, pid }, sample }) => {
    const groups = [{ origin, actors: actorsOf[workload](sample) }];
    const sums: Sums = { count: 0, milliseconds: 0, server: 0, database: 0 };
    const take = async () => {
      const cpu = () => ({ server: cpuTime([pid]), database: cpuTime(parts.databaseProcesses()) });
      const [before, startedAt] = [cpu(), performance.now()];
      const [done] = await load(groups, { warmUp: 0, duration });
      const after = cpu();
      sums.count += done?.count ?? Number.NaN;
      sums.milliseconds += performance.now() - startedAt;
      sums.server += after.server - before.server;
      sums.database += after.database - before.database;
    };
    return { groups, sums, take };
  });
  for (const { groups } of measured) await load(groups, { warmUp: 0, duration: 2 * duration });
  const counters = async () => {
    await pause(REPORTED);
    return Promise.all(all.map(({ url }) => readCounters(url)));
  };
  const before = await counters();
  const turns = measured.map(({ take }, at) => ({ name: `${workload} among ${all[at]?.size}`, take }));
  await takeTurns(turns, TURNS, async (what, work) => {
    progress(what);
    await work();
    return true;
  });
  const after = await counters();
  return measured.map(({ sums: { count, milliseconds, server, database } }, at) => {
    const counted = (name: keyof Counters) => (after[at]?.[name] ?? Number.NaN) - (before[at]?.[name] ?? Number.NaN);
    return {
      perSecond: (1_000 * count) / milliseconds,
      server: server / count,
      database: database / count,
      statements: counted('statements') / count,
      hot: counted('hotUpdates') / counted('updates'),
    };
  });
};

/** Beside few and beside many: a row for each, and the ratio. */
const rowsOf = (what: string, cost: Cost, few: Cost): string[] => [
  what,
  figure(cost.perSecond, 1),
  `${figure(cost.server, 3)} (${figure(cost.server / few.server, 2)})`,
  `${figure(cost.database, 3)} (${figure(cost.database / few.database, 2)})`,
  figure(cost.statements, 2),
  `${figure(100 * cost.hot, 1)} %`,
];

export const measureGrowth = async (parts: Parts, { quick }: Options): Promise<Section[]> => {
  const sizes = quick ? [1_000, 20_000] : [1_000, 1_000_000];
  const duration = quick ? 500 : 5_000;
  const all: Among[] = [];
  try {
    for (const size of sizes) all.push(await startAmong(size, parts));
    for (const { url } of all) await forgetStatements(url);
    const rows: string[][] = [];
    for (const workload of ['refresh', 'log-in'] as const) {
      const costs = await costsOf(workload, all, parts, duration);
      const [few] = costs as [Cost];
      rows.push(...costs.map((cost, at) => rowsOf(`${workload} among ${sizes[at]}`, cost, few)));
    }
    const { size, url, sample } = all.at(-1) as Among;
    progress(`statements among ${size}`);
    return [
      {
        title: `Costs among ${sizes.join(' and among ')} users with ${SESSIONS_EACH} sessions and ${EVENTS_EACH} events each`,
        text: [
          `${CLIENTS} clients, who take turns over ${SAMPLE} people at random; both services in turns of ${duration / 1_000} s. In parentheses: the ratio to the smaller table.`,
          table(
            ['', '/s', 'server, ms a request', 'PostgreSQL, ms a request', 'statements a request', 'HOT updates'],
            rows,
          ),
        ].join('\n\n'),
      },
      { title: `Sizes among ${size} users`, text: await tableOfSizes(url) },
      { title: `Statements among ${size} users`, text: await tableOfStatements(url, sample[0] as Credentials) },
    ];
  } finally {
    for (const { server } of all) await server.stop();
  }
};
