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
import { countStatements, forgetStatements, readCounters } from './database-counters.ts';
import { addUsers, EVENTS_EACH, SESSIONS_EACH, someOfThem } from './many-sessions.ts';
import { tableOfSizes, tableOfStatements } from './statements.ts';

const CLIENTS = 16;
/** People whose sessions are refreshed in turn, spread over the whole table. */
const SAMPLE = 4_000;
/** Milliseconds until PostgreSQL's counters of tables have heard of everything. */
const REPORTED = 2_000;

type Cost = {
  readonly perSecond: number;
  /** Milliseconds a request. */
  readonly server: number;
  readonly database: number;
  readonly statements: number;
  /** Share of the updates of sessions. */
  readonly hot: number;
};
type Costs = { readonly refresh: Cost; readonly logIn: Cost; readonly sizes: string; readonly statements: string };

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

const costOf = async (
  actors: readonly Actor[],
  { origin, pid }: Server,
  parts: Parts,
  url: string,
  duration: number,
): Promise<Cost> => {
  const groups = [{ origin, actors }];
  await load(groups, { warmUp: 0, duration: duration / 4 });
  await pause(REPORTED);
  const cpu = () => ({ server: cpuTime([pid]), database: cpuTime(parts.databaseProcesses()) });
  const [counted, computed] = [await readCounters(url), cpu()];
  const [measured] = await load(groups, { warmUp: 0, duration });
  const computedAfter = cpu();
  await pause(REPORTED);
  const countedAfter = await readCounters(url);
  const { count = 0, perSecond = 0 } = measured ?? {};
  return {
    perSecond,
    server: (computedAfter.server - computed.server) / count,
    database: (computedAfter.database - computed.database) / count,
    statements: (countedAfter.statements - counted.statements) / count,
    hot: (countedAfter.hotUpdates - counted.hotUpdates) / (countedAfter.updates - counted.updates),
  };
};

/** What a refresh and a log-in cost beside so many users, what the tables take, and how rows are found. */
const costsAmong = async (size: number, parts: Parts, duration: number): Promise<Costs> => {
  const storage = await parts.fresh();
  const url = storage.DATABASE_URL;
  await countStatements(url);
  const server = await startServer(TANDEM.program, { ...TANDEM.env, ...storage }, ALL);
  try {
    await registerAll(server.origin, TANDEM.calls, newPeople(1));
    progress(`adding ${size} users with sessions and events`);
    await addUsers(url, size);
    const sample = await someOfThem(url, Math.min(SAMPLE, size));
    const shares = Array.from({ length: CLIENTS }, (_, client) =>
      refreshingInTurn(
        TANDEM.calls,
        sample.filter((_each, index) => index % CLIENTS === client),
      ),
    );
    await forgetStatements(url);
    progress(`refresh among ${size}`);
    const refresh = await costOf(shares, server, parts, url, duration);
    progress(`log-in among ${size}`);
    const people = sample.map(({ person }) => person);
    const logIn = await costOf(loggingIn(TANDEM.calls, people, CLIENTS), server, parts, url, duration);
    progress(`statements among ${size}`);
    const [one] = sample;
    if (one === undefined) throw new Error('there are no users');
    return { refresh, logIn, sizes: await tableOfSizes(url), statements: await tableOfStatements(url, one) };
  } finally {
    await server.stop();
  }
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
  const [few, many] = quick ? [1_000, 20_000] : [1_000, 1_000_000];
  const duration = quick ? 2_000 : 15_000;
  const small = await costsAmong(few, parts, duration);
  const large = await costsAmong(many, parts, duration);
  const rows = (['refresh', 'logIn'] as const).flatMap((workload) => [
    rowsOf(`${workload} among ${few}`, small[workload], small[workload]),
    rowsOf(`${workload} among ${many}`, large[workload], small[workload]),
  ]);
  return [
    {
      title: `Costs among ${few} and among ${many} users with ${SESSIONS_EACH} sessions and ${EVENTS_EACH} events each`,
      text: [
        `${CLIENTS} clients, in turn over ${SAMPLE} people at random. In parentheses: the ratio to the smaller table.`,
        table(
          ['', '/s', 'server, ms a request', 'PostgreSQL, ms a request', 'statements a request', 'HOT updates'],
          rows,
        ),
      ].join('\n\n'),
    },
    { title: `Sizes among ${many} users`, text: large.sizes },
    { title: `Statements among ${many} users`, text: large.statements },
  ];
};
