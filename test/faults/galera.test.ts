import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { MIGRATIONS, type Migration } from '../../src/adapters/mikro-orm/migrations.ts';
import { connect } from '../../src/adapters/mikro-orm/open-database.ts';
import { bringUpToDate, schemaState } from '../../src/adapters/mikro-orm/schema.ts';
import { database as examineDatabase } from '../../src/infrastructure/commands/doctor/stores.ts';
import { runAtEnd } from '../support/closing.ts';
import { setUpOf } from '../support/doctor.ts';
import { aPerson } from '../support/http/service.ts';
import { joseDeviceKey } from '../support/jose-proofs.ts';
import { testKeys } from '../support/keys.ts';
import { keyVariables } from '../support/processes/environments.ts';
import { type RunningService, runService } from '../support/processes/process.ts';
import { type Answer, ask, type Holder, postJson, signUpAt } from '../support/processes/sessions-under-load.ts';
import { canStartGalera, startGalera } from '../support/servers/of-the-tests.ts';
import type { TestServer } from '../support/servers/server.ts';
import { onMariadb } from '../support/storage/databases.ts';
import { type Database, openDatabase } from '../support/storage/open-database.ts';

/** Milliseconds; the time-out only catches hangs. */
const PATIENCE = { timeout: 120_000, interval: 100 };
const BASE_URL = 'http://localhost:3000';
const RACES = 30;
/** Of each instance, half of them with a key. */
const CLIENTS = 12;
/** How many milliseconds a refresh takes at least: a load that leaves room for everything else. */
const EVERY = 100;

describe.runIf(canStartGalera())('three instances, each at its own node of a Galera cluster', () => {
  let nodes: readonly TestServer[];
  let services: readonly RunningService[];
  let databases: readonly Database[];
  /** Of one node alone. */
  const nodeUrl = (node: number, name = 'tandem'): string => `${nodes[node]?.url}${name}`;
  /** Of all nodes, one of them first. */
  const clusterUrl = (first: number): string => {
    const hosts = nodes.map((_, index) => new URL(nodeUrl((first + index) % nodes.length)).host);
    return nodeUrl(first).replace(/@[^/]*/, `@${hosts.join()}`);
  };
  const at = (instance: number): string => services[instance % services.length]?.url ?? expect.unreachable();
  const database = (node: number): Database => databases[node] ?? expect.unreachable();

  beforeAll(async () => {
    ({ nodes } = await startGalera());
    const admin = await openDatabase(onMariadb(nodeUrl(0, 'mysql')), { migrate: false });
    await admin.em.execute('create database tandem');
    const env = { ...keyVariables(testKeys()), BASE_URL, BCRYPT_COST: '4', RATE_LIMITS: 'off' };
    // All of them make the tables.
    services = await Promise.all(nodes.map((_, first) => runService({ ...env, DATABASE_URL: clusterUrl(first) })));
    databases = await Promise.all(nodes.map((_, node) => openDatabase(onMariadb(nodeUrl(node)), { migrate: false })));
  });

  const eventsOf = (kind: string) => database(1).em.execute('select 1 from events where kind = ?', [kind]);
  const holderAt = async (url: string, hasKey: boolean): Promise<Holder> => {
    if (!hasKey) return signUpAt(url);
    const { proof } = await joseDeviceKey();
    return signUpAt(url, aPerson(), (path) => proof({ htu: `${BASE_URL}${path}`, now: Date.now() }));
  };

  it('a token that is used at two of them at the same time has one winner', async () => {
    const holders = await Promise.all(Array.from({ length: RACES }, (_, race) => signUpAt(at(race))));
    for (const [race, { cookies }] of holders.entries()) {
      const headers = { Cookie: cookies()[0] ?? '' };
      const use = (instance: number) => ask(`${at(instance)}/auth/refresh-token`, { method: 'POST', headers });
      const answers = await Promise.all([use(race + 1), use(race + 2)]);
      expect(answers.map(({ status, code }) => code ?? status).sort()).toEqual([200, 'AUTH_FAILED']);
    }
    expect(await eventsOf('session-recovered')).toEqual([]);
  });

  it('what one has acknowledged is read at a node that is behind', async () => {
    // What the service sends there waits: reads for the changes before them, changes for the lock.
    const waiting = sql`select 1 from information_schema.processlist where command = 'Query' and id <> connection_id()`;
    const { em } = await openDatabase(onMariadb(nodeUrl(1)), { migrate: false });
    const connection = em.getKysely().connection();
    await connection.execute(async (held) => {
      await sql`set session wsrep_sync_wait = 0`.execute(held);
      await sql`flush tables with read lock`.execute(held);
      const holder = await signUpAt(at(0));
      let isAnswered = false;
      const refreshed = holder.refresh(at(1)).finally(() => {
        isAnswered = true;
      });
      await vi.waitFor(async () => {
        if (!isAnswered && (await waiting.execute(held)).rows.length === 0) throw new Error('nothing waits');
      }, PATIENCE);
      await sql`unlock tables`.execute(held);
      expect(await refreshed).toMatchObject({ status: 200 });
    });
  });

  it('a lock holds at every node', async () => {
    const { userId } = await signUpAt(at(0));
    let writers = 0;
    const bothHaveWritten = Promise.withResolvers<void>();
    /** Adds a code unless there is one. */
    const addOne = ({ records }: Database, hash: string) =>
      records.unit(async (inside) => {
        await inside.lock('users', { id: userId });
        const found = await inside.list('recoveryCodes', { equal: { userId } });
        if (found.length > 0) return;
        await inside.insert('recoveryCodes', { userId, hash });
        writers += 1;
        if (writers === 2) bothHaveWritten.resolve();
        await bothHaveWritten.promise;
      });
    await Promise.all([addOne(database(0), 'one'), addOne(database(1), 'two')]);
    expect(await database(2).records.list('recoveryCodes', { equal: { userId } })).toHaveLength(1);
    expect(writers).toBe(2);
  });

  it('migrations are applied once, by all at the same time', async () => {
    const migration = (column: string): Migration => ({
      ...{ name: `2.0.0-${column}`, table: 'users' },
      up: (transaction, { types }) => transaction.schema.alterTable('users').addColumn(column, types.integer).execute(),
    });
    const migrations = [...MIGRATIONS, migration('one'), migration('two')];
    const opened = await Promise.all(nodes.map((_, node) => connect(onMariadb(nodeUrl(node)), { migrate: false })));
    for (const { close } of opened) runAtEnd(close);
    const contexts = opened.map((each) => ({ ...each, migrations }));
    await Promise.all(contexts.map(bringUpToDate));
    for (const each of contexts) expect(await schemaState(each)).toEqual({ pending: [], unknown: [] });
  });

  /** Registers one person after the other, and refreshes all sessions, each at its instance, until it is stopped. */
  const load = async () => {
    let going = true;
    const people: ReturnType<typeof aPerson>[] = [];
    const refused: unknown[] = [];
    const holders: Holder[] = [];
    // The last answer of each is a success: then nothing of it is still to be reverted at its instance.
    const again = async (work: () => Promise<Pick<Answer, 'status'>>) => {
      for (let isLast = false; !isLast; ) {
        const [{ status }] = await Promise.all([work(), pause(EVERY)]);
        isLast = !going && status < 300;
      }
    };
    const loops: Promise<void>[] = [];
    for (const { url } of services) {
      const own = await Promise.all(Array.from({ length: CLIENTS }, (_, client) => holderAt(url, client % 2 === 0)));
      holders.push(...own);
      loops.push(...own.map(({ refresh }) => again(() => refresh(url))));
      const register = async () => {
        const person = aPerson();
        const answer = await postJson(`${url}/auth/register`, person);
        if (answer.status === 201) people.push(person);
        else refused.push(answer.code);
        return answer;
      };
      loops.push(again(register));
    }
    return {
      holders,
      people,
      /** The codes of what failed. */
      codes: () => new Set([...refused, ...holders.flatMap(({ failures }) => failures.map(({ code }) => code))]),
      untilAllRefreshed: async () => {
        const before = holders.map(({ refreshes }) => refreshes());
        await vi.waitFor(() => {
          const waiting = holders.filter(({ refreshes }, index) => refreshes() <= (before[index] ?? 0));
          if (waiting.length > 0)
            throw new Error(`${waiting.length} wait: ${JSON.stringify(waiting[0]?.failures.at(-1))}`);
        }, PATIENCE);
      },
      stop: async () => {
        going = false;
        await Promise.all(loops);
      },
    };
  };
  /** Cuts the first node off, and keeps the connection for the way back: such a node takes no new one. @returns what joins it again */
  const cutOff = async () => {
    const [cut, mended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const isolate = (is: 0 | 1) => sql.raw(`set global wsrep_provider_options = 'gmcast.isolate=${is}'`);
    const connection = database(0).em.getKysely().connection();
    const done = connection.execute(async (held) => {
      await isolate(1).execute(held);
      cut.resolve();
      await mended.promise;
      await isolate(0).execute(held);
    });
    await Promise.race([cut.promise, done]);
    return () => {
      mended.resolve();
      return done;
    };
  };
  /** The hosts that the first instance has gone to, as it has logged them. */
  const hostsUsed = (): unknown[] =>
    (services[0]?.stdout ?? []).filter((line) => line.includes('another host')).map((line) => JSON.parse(line).host);

  it.each<[string, (node: TestServer) => Promise<() => unknown>]>([
    ['killed, and joins again by a transfer of the state', (node) => node.kill().then(() => node.restart)],
    ['frozen, and goes on', (node) => node.freeze().then(() => node.thaw)],
    ['cut off from the others, and joins again', cutOff],
  ])('a node is %s: nobody is logged out, and nothing acknowledged is lost', async (_, strike) => {
    const node = nodes[0] ?? expect.unreachable();
    const [own = '', ...others] = nodes.map((_, each) => new URL(nodeUrl(each)).host);
    const { holders, people, codes, untilAllRefreshed, stop } = await load();
    try {
      await untilAllRefreshed();
      await vi.waitFor(() => expect(hostsUsed().at(-1) ?? own).toBe(own), PATIENCE);
      const before = hostsUsed().length;
      const mend = await strike(node);
      // Until the other nodes give a node up, it may go on, and the doctor may find it well.
      await vi.waitFor(() => expect(others).toContain(hostsUsed()[before]), PATIENCE);
      await untilAllRefreshed();
      await vi.waitFor(async () => {
        const findings = [await examineDatabase(setUpOf({ DATABASE_URL: clusterUrl(0) }))].flat();
        const unreachable = findings.filter(({ id }) => id === 'database.unreachable');
        expect(unreachable.map(({ seen }) => seen)).toContainEqual(expect.stringContaining(`${own}: `));
      }, PATIENCE);
      await mend();
      // The first instance goes back to its node by itself.
      await vi.waitFor(() => expect(hostsUsed().at(-1)).toBe(own), PATIENCE);
      await untilAllRefreshed();
    } finally {
      await stop();
    }
    for (const code of codes()) expect(code).toBe('DB_QUERY_FAILED');
    for (const [index, { refresh }] of holders.entries())
      expect(await refresh(at(index))).toMatchObject({ status: 200 });
    for (const kind of ['session-ended', 'session-recovered']) expect(await eventsOf(kind)).toEqual([]);
    for (const [index, { email: account, password }] of people.entries())
      expect(await postJson(`${at(index)}/auth/login`, { account, password })).toMatchObject({ status: 200 });
  });
});
