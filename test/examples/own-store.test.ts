import { Pool } from 'pg';
import { describeRecords, describeStorage } from 'tandem/contracts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readText } from '../support/checkout/repository.ts';
import { tokensOf } from '../support/http/auth-http.ts';
import { aPerson } from '../support/http/service.ts';
import { type ExampleProcess, startExample } from '../support/processes/example.ts';
import { createDatabase, TEST_DATABASE_URL } from '../support/storage/databases.ts';
import { openOwnStore } from '../support/storage/own-store.ts';
import { temporaryDirectory } from '../support/storage/temporary-directory.ts';
import { tally } from '../support/tally.ts';

const server = TEST_DATABASE_URL ?? '';

it('the example is a store in at most 200 lines, as its page says', () => {
  const page = readText('examples/own-store/README.md');
  const counted = ['records.ts', 'schema.ts'].map((file) => {
    const count = readText(`examples/own-store/${file}`).split('\n').length - 1;
    expect(page).toContain(`| [${file}](${file}) | ${count} |`);
    return count;
  });
  expect(counted.reduce((sum, count) => sum + count)).toBeLessThanOrEqual(200);
});

describe.runIf(server !== '').each(['own', 'shop'] as const)('the example with users of its %s', (users) => {
  let store: Awaited<ReturnType<typeof openOwnStore>>;
  beforeAll(async () => {
    store = await openOwnStore(server, users);
  });
  afterAll(() => store?.close());

  if (users === 'own')
    describeRecords('pgRecords', async () => {
      await store.empty();
      return {
        records: store.ours.records,
        another: async () => store.theirs.records,
        failing: async () => store.failing().records,
        untilOneWaits: store.untilOneWaits,
      };
    });
  else
    describeStorage('over it', async () => {
      await store.empty();
      return {
        storage: store.storageOf(store.ours),
        another: async () => store.storageOf(store.theirs),
        failing: async () => store.storageOf(store.failing()),
        interfere: store.interfere,
        untilOneWaits: store.untilOneWaits,
      };
    });
});

describe.runIf(server !== '')('two processes of the example, in a database of a shop', () => {
  const directory = temporaryDirectory();
  const processes: ExampleProcess[] = [];
  let shop: Pool;
  const at = (number: number): ExampleProcess => processes[number % 2] ?? expect.unreachable();
  beforeAll(async () => {
    const database = await createDatabase(server);
    shop = new Pool({ connectionString: database.url });
    await shop.query(`create table users (name text); insert into users values ('a customer')`);
    await shop.query(
      `alter database "${new URL(database.url).pathname.slice(1)}" set default_transaction_isolation = serializable`,
    );
    const env = { SHOP_DATABASE_URL: database.url, DATA_DIR: directory.path };
    processes.push(...(await Promise.all([startExample(env), startExample(env)])));
    return () => shop.end();
  });

  const register = (number: number, person: object) => at(number).http.post('/auth/register').send(person);
  const refresh = (number: number, cookie: string) => at(number).http.post('/auth/refresh-token').set('Cookie', cookie);

  it('are ready, and leave the tables of the shop alone', async () => {
    for (const number of [0, 1]) {
      const { body } = await at(number).http.get('/health/ready').expect(200);
      expect(body.data).toEqual({ status: 'ready', checks: { postgresql: 'up' } });
    }
    expect((await shop.query('select * from public.users')).rows).toEqual([{ name: 'a customer' }]);
    const schemas = `select distinct table_schema from information_schema.tables where table_schema !~ '^(pg_|information_)'`;
    expect((await shop.query(`${schemas} order by 1`)).rows.map((row) => row.table_schema)).toEqual(['auth', 'public']);
  });

  it('register, log in, refresh and log out users whom they share', async () => {
    const person = aPerson();
    await register(0, person).expect(201);
    await register(1, person).expect(409);
    const login = { account: person.email, password: person.password };
    const first = tokensOf(await at(1).http.post('/auth/login').send(login).expect(200));
    await at(0).http.get('/users/me').set('Authorization', `Bearer ${first.accessToken}`).expect(200);
    const next = tokensOf(await refresh(0, first.cookie).expect(200));
    await refresh(1, first.cookie).expect(401);
    await at(1).http.get('/auth/clear-cookie').set('Cookie', next.cookie).expect(200);
    await refresh(0, next.cookie).expect(401);
    await at(0).http.get('/users/me').set('Authorization', `Bearer ${next.accessToken}`).expect(401);
  });

  it('accept many log-ins at once of one user, although transactions are serializable by default', async () => {
    const person = aPerson();
    await register(0, person).expect(201);
    const login = { account: person.email, password: person.password };
    const logins = Array.from({ length: 16 }, (_none, number) => at(number).http.post('/auth/login').send(login));
    expect(tally(await Promise.all(logins))).toEqual({ '200': 16 });
  });

  it('go on after their connections were cut', async () => {
    const { cookie } = tokensOf(await register(0, aPerson()).expect(201));
    await shop.query(`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`);
    await expect.poll(async () => (await at(0).http.get('/health/ready')).status).toBe(200);
    await refresh(0, cookie).expect(200);
  });

  it('end when they are signalled', async () => {
    const { stop, stderr } = processes.pop() ?? expect.unreachable();
    expect(await stop('SIGTERM')).toEqual({ code: 0, signal: null });
    expect(stderr).toEqual([]);
  });
});
