import { createRequire } from 'node:module';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import { listAllEvents } from '../../src/application/accounts/account-data.ts';
import { listUsers } from '../../src/application/accounts/list-users.ts';
import { overview } from '../../src/application/overview.ts';
import { listInvitations } from '../../src/application/storage/credentials.ts';
import { countUsers } from '../../src/application/storage/rows.ts';
import { TABLES } from '../../src/application/storage/tables.ts';
import { type Config, parseConfig } from '../../src/infrastructure/config.ts';
import { openSql } from '../../src/infrastructure/open-sql.ts';
import { serve } from '../../src/infrastructure/serve.ts';
import { freePort } from '../../test/support/servers/free-port.ts';
import { type Answer, type Call, connect, isExpected } from '../load/connection.ts';
import { query, type Row } from '../parts/parts.ts';
import { figure, table } from '../report/table.ts';
import type { Credentials } from '../systems/system.ts';
import { TANDEM } from '../systems/systems.ts';
import { newPerson } from '../workloads/clients.ts';

/** What was sent to PostgreSQL for a request, or for what the service does by itself after its start. */
type Sent = { readonly of: string; readonly text: string; readonly values: readonly unknown[] };

const CHANGES = /^(?:update|delete)|insert into/;
const NAMES = new Set(Object.values(TABLES).map(({ name }) => name));
/** The first table that a statement names. */
const tableOf = (text: string): string | undefined => /(?:from|into|update) "(\w+)"/.exec(text)?.[1];
/** Milliseconds until the rounds of purging that a start begins with are done. */
const PURGING = 3_000;

/** Notes what the driver of the service sends in this process. The driver of the bench is another copy of the package. */
const watchDriver = () => {
  const service = createRequire(import.meta.resolve('../../src/infrastructure/main.js'));
  const { Client: Driver } = createRequire(service.resolve('@mikro-orm/postgresql'))('pg');
  const sent: Sent[] = [];
  const watched = { of: 'purge' };
  const { query: send } = Driver.prototype;
  Driver.prototype.query = function (first: unknown, ...rest: unknown[]) {
    const { text, values } = typeof first === 'string' ? { text: first, values: rest[0] } : (first as Sent);
    if (NAMES.has(tableOf(text) ?? ''))
      sent.push({ of: watched.of, text, values: Array.isArray(values) ? values : [] });
    return send.call(this, first, ...rest);
  };
  const stop = () => {
    Driver.prototype.query = send;
  };
  return { sent, watched, stop };
};

const get = (path: string) => (credentials: Credentials) =>
  ({
    method: 'GET',
    path,
    headers: { Authorization: `Bearer ${credentials.accessToken}` },
    status: 200,
    containing: 'data',
  }) satisfies Call;

/** What the back office asks. */
const askAsOperator = async ({ database }: Config, begin: (of: string) => void): Promise<void> => {
  const { users, records, clock, close } = await openSql(database, { migrate: false });
  const page = { contains: null, after: null, newestFirst: true, limit: 20 };
  begin('newest users');
  await listUsers({ users, records })(page);
  begin('two characters');
  await listUsers({ users, records })({ ...page, contains: 'zq' });
  begin('a text');
  await listUsers({ users, records })({ ...page, contains: 'one.77777' });
  for (const only of ['disabled', 'logged-in', 'provider:google']) {
    begin(`users: ${only}`);
    await listUsers({ users, records })({ ...page, only });
  }
  begin('number of users');
  await countUsers({ users })();
  begin('latest events of all');
  await listAllEvents({ records })({ before: null, limit: 20 });
  begin('events of an operator');
  await listAllEvents({ records })({ before: null, limit: 20, actor: 'support' });
  begin('invitations');
  await listInvitations(records, clock.now(), 20);
  begin('overview');
  await overview({ records, clock })('30d');
  await close();
};

/** Statements of the requests that a user with a session and a history makes, each once. */
const walk = async (url: string, { person }: Credentials): Promise<readonly Sent[]> => {
  const port = await freePort();
  const env = { ...TANDEM.env, NODE_ENV: 'production', HOST: '127.0.0.1', PORT: String(port), DATABASE_URL: url };
  const { sent, watched, stop } = watchDriver();
  const config = parseConfig({ ...env, LOG_LEVEL: 'silent', SHUTDOWN_DELAY: '0' });
  const end = await serve(config);
  await pause(PURGING);
  const { send, close } = connect(`http://127.0.0.1:${port}`);
  const done = async (of: string, call: Call): Promise<Answer> => {
    watched.of = of;
    const answer = await send(call);
    if (!isExpected(call, answer)) throw new Error(`${of}: ${answer.status} ${answer.body}`);
    return answer;
  };
  try {
    const { calls } = TANDEM;
    if (calls.register !== undefined) await done('registration', calls.register(newPerson()));
    let credentials = calls.credentials(person, await done('log-in', calls.logIn(person)));
    credentials = calls.refreshed(credentials, await done('refresh', calls.refresh(credentials)));
    for (const [of, path] of [
      ['the user', '/users/me'],
      ['list of sessions', '/auth/sessions'],
      ['list of events', '/users/me/events'],
    ] as const)
      await done(of, get(path)(credentials));
    const headers = { Cookie: credentials.cookie };
    await done('log-out', { method: 'GET', path: '/auth/clear-cookie', headers, status: 200, containing: '' });
    await askAsOperator(config, (of) => {
      watched.of = of;
    });
  } finally {
    await close();
    await end('the end');
    stop();
  }
  return sent;
};

type Plan = Row & { readonly Plans?: readonly Plan[] };

/** How rows are found, from the outside inwards. */
const accessOf = (plan: Plan): string[] => {
  const [type, index] = [String(plan['Node Type']), plan['Index Name']];
  const own = /Scan|Sort|Lock/.test(type) ? [index === undefined ? type : `${type} ${index}`] : [];
  return [...own, ...(plan.Plans ?? []).flatMap(accessOf)];
};

/** The verb, the table and the columns of the conditions. */
const shortened = (text: string): string => {
  const [verb] = text.split(' ');
  const [, condition = ''] = /where (.*)$/s.exec(text) ?? [];
  const columns = [...condition.matchAll(/"(\w+)" (?:[<>=]|in)/g)].map(([, column]) => column);
  return [verb, tableOf(text), ...(columns.length > 0 ? ['by', [...new Set(columns)].join(', ')] : [])].join(' ');
};

/** Runs each statement again, in a transaction that is rolled back. What is inserted is there by then, so an insert has no plan. */
const explained = async (url: string, statements: readonly Sent[]): Promise<string[][]> => {
  const client = new Client({ connectionString: url });
  await client.connect();
  const rows: string[][] = [];
  try {
    for (const { of, text, values } of statements) {
      if (text.includes('insert into')) continue;
      await client.query('begin');
      const { rows: found } = await client.query(`explain (analyze, buffers, format json) ${text}`, [...values]);
      await client.query('rollback');
      const [{ Plan: plan, 'Execution Time': time }] = found[0]['QUERY PLAN'];
      const pages = Number(plan['Shared Hit Blocks']) + Number(plan['Shared Read Blocks']);
      rows.push([of, shortened(text), [...new Set(accessOf(plan))].join(', '), figure(time, 3), String(pages)]);
    }
  } finally {
    await client.end();
  }
  return rows;
};

/** Statements that differ. */
const distinct = (statements: readonly Sent[]): readonly Sent[] => [
  ...new Map(statements.map((each) => [`${each.of} ${each.text}`, each] as const)).values(),
];

/** How PostgreSQL finds the rows of each statement of the walk. */
export const tableOfStatements = async (url: string, credentials: Credentials): Promise<string> => {
  const statements = distinct(await walk(url, credentials));
  const changes = statements.filter(({ text }) => CHANGES.test(text)).length;
  return [
    table(['', 'statement', 'found by', 'ms', 'pages'], await explained(url, statements)),
    `${statements.length} statements, ${changes} of which change rows.`,
  ].join('\n\n');
};

/** What tables and their indexes take. */
export const tableOfSizes = async (url: string): Promise<string> => {
  const sizes = await query(
    url,
    `select c.relname as name, n_live_tup as rows, pg_table_size(c.oid) as bytes,
       (select string_agg(i.relname || ' ' || pg_size_pretty(pg_relation_size(i.oid)), ', ' order by i.relname)
        from pg_index x join pg_class i on i.oid = x.indexrelid where x.indrelid = c.oid) as indexes,
       pg_indexes_size(c.oid) as all_indexes
     from pg_class c join pg_stat_user_tables s on s.relid = c.oid where n_live_tup > 100 order by bytes desc`,
  );
  const mebibytes = (bytes: unknown) => figure(Number(bytes) / 2 ** 20, 0);
  return table(
    ['table', 'rows', 'MiB', 'bytes a row', 'MiB of indexes', 'indexes'],
    sizes.map(({ name, rows, bytes, all_indexes, indexes }) => [
      ...[String(name), String(rows), mebibytes(bytes), figure(Number(bytes) / Number(rows), 0)],
      ...[mebibytes(all_indexes), String(indexes)],
    ]),
  );
};
