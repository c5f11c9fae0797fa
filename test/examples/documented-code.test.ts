import { hash } from 'node:crypto';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { decodeJwt } from 'jose';
import { Pool } from 'pg';
import * as tandem from 'tandem';
import { absent, describeRecords } from 'tandem/contracts';
import { describe, expect, it, vi } from 'vitest';
import * as server from '../../client/src/server.ts';
import { pgRecords } from '../../examples/own-store/records.ts';
import { createTables } from '../../examples/own-store/schema.ts';
import { CUSTOMERS, shopUsers } from '../../examples/own-store/shop-users.ts';
import { callsOver, memoryRows, transactOver } from '../../src/adapters/records/memory.ts';
import { aUser } from '../support/builders.ts';
import { codeBelow, runCode } from '../support/checkout/documented-code.ts';
import { runAtEnd } from '../support/closing.ts';
import { aPerson } from '../support/http/service.ts';
import { runHere } from '../support/processes/commands.ts';
import { runService } from '../support/processes/process.ts';
import { callsMadeBy } from '../support/records/calls-by.ts';
import { freePort } from '../support/servers/free-port.ts';
import { createDatabase, TEST_DATABASE_URL } from '../support/storage/databases.ts';
import { temporaryDirectory } from '../support/storage/temporary-directory.ts';

/** The package, without lines of its log. */
const QUIET = { ...tandem, parseConfig: (env: object) => tandem.parseConfig({ LOG_LEVEL: 'fatal', ...env }) };

type Scope = Readonly<Record<string, unknown>>;

/** Runs lines that start the service, by default with nothing of their own. It stops at the end of the test. */
const started = async (code = 'await serve(parseConfig(process.env));', scope: Scope = {}, more: Scope = {}) => {
  const port = `${await freePort()}`;
  const url = `http://localhost:${port}`;
  const { path } = temporaryDirectory();
  const there = { PORT: port, BASE_URL: url, JWT_ISSUER: url, DATA_DIR: path };
  const env = { NODE_ENV: 'test', LOG_LEVEL: 'fatal', BCRYPT_COST: '4', ...there, ...more };
  const serve = async (...given: Parameters<typeof tandem.serve>) => {
    const stop = await tandem.serve(...given);
    runAtEnd(() => stop('the test is over'));
  };
  const own = { tandem: { ...tandem, serve }, serve, parseConfig: tandem.parseConfig };
  await runCode(code, { ...own, process: { env }, ...scope });
  const call = async (path: string, { token = '', body }: { readonly token?: string; readonly body?: object } = {}) => {
    const headers = { 'Content-Type': 'application/json', ...(token && { Authorization: `Bearer ${token}` }) };
    const response = await fetch(url + path, { headers, ...(body && { method: 'POST', body: JSON.stringify(body) }) });
    const { code = response.status, data } = JSON.parse(await response.text());
    return { code, data, cookie: response.headers.getSetCookie()[0]?.split(';')[0] ?? '' };
  };
  const register = async (email = aPerson().email) => {
    const { data, ...answer } = await call('/auth/register', { body: { ...aPerson(), email } });
    return { ...answer, ...data };
  };
  return { url, call, register };
};

describe('docs/extend.md', () => {
  const PAGE = 'docs/extend.md';

  it('has hooks that decide on registrations, state claims, and are told what happened', async () => {
    const [code = ''] = codeBelow(PAGE, 'Hooks', 'ts');
    const crm = { add: vi.fn() };
    const { register } = await started(code, { crm, db: { roleOf: async () => 'editor' } });
    expect(await register('ada@example.org')).toMatchObject({ code: 'AUTH_REGISTRATION_REFUSED' });
    const { accessToken, user } = await register('ada@example.com');
    expect(decodeJwt(accessToken)).toMatchObject({ attributes: { role: 'editor' } });
    await vi.waitFor(() => expect(crm.add).toHaveBeenCalledExactlyOnceWith(user.id));
  });

  it('has claims out of a database', async () => {
    const [code] = codeBelow(PAGE, 'claims', 'ts');
    const query = vi.fn(async () => ({ rows: [{ role: 'member' }] }));
    const program = `await serve(parseConfig(process.env), { hooks: { ${code} } });`;
    const { accessToken, user } = await (await started(program, { db: { query } })).register();
    expect(decodeJwt(accessToken)).toMatchObject({ attributes: { role: 'member', isStrong: false } });
    expect(query).toHaveBeenCalledWith(expect.any(String), [user.id]);
  });

  it('has a route', async () => {
    const [code = ''] = codeBelow(PAGE, 'Routes of your own', 'ts');
    const { call, register } = await started(code);
    const { accessToken: token } = await register();
    expect(await call('/orders/1', { token })).toMatchObject({ code: 200, data: { title: 'A lamp' } });
    expect(await call('/orders/2', { token })).toMatchObject({ code: 'SHOP_ORDER_NOT_FOUND' });
  });

  it('has a table, and a transaction that changes it and a user, or nothing', async () => {
    const [tables = '', change = ''] = codeBelow(PAGE, 'Tables', 'ts');
    const given = vi.fn((_service: tandem.ServiceWith<tandem.OwnTables>) => []);
    const program = tables.replace('[/* … */]', 'given({ records, transactions })');
    const { call, register } = await started(program, { given });
    const { accessToken: token, user } = await register();
    const [{ records, transactions }] = given.mock.calls[0] ?? expect.unreachable();
    const order = { id: '1', userId: user.id, number: 7, lines: [{ lamps: 2 }], note: null };
    const attributes = async () => (await call('/users/me', { token })).data.attributes;
    const run = (plan: string) =>
      runCode(change.replace('paid', plan), { transactions, order, userId: user.id, clock: { now: Date.now } });
    await run('paid');
    expect(await records.list('orders', {})).toMatchObject([order]);
    expect(await attributes()).toEqual({ plan: 'paid' });
    await expect(run('twice')).rejects.toMatchObject({ code: 'DB_UNIQUE_VIOLATION' });
    expect(await attributes()).toEqual({ plan: 'paid' });
  });
});

describe('docs/own-store.md', () => {
  const PAGE = 'docs/own-store.md';

  it('has a program with a store, a check of it, and a close', async () => {
    const [code = ''] = codeBelow(PAGE, 'A store of your own', 'ts');
    const client = { ping: vi.fn(async () => undefined), end: vi.fn() };
    const { call, register } = await started(code, { records: tandem.memoryRecords(), client });
    expect(await register()).toMatchObject({ code: 201 });
    expect(await call('/health/ready')).toMatchObject({ data: { checks: { cassandra: 'up' } } });
    client.ping.mockRejectedValue(new Error('no connection'));
    expect(await call('/health/ready')).toMatchObject({ code: 'SYS_HTTP_UNEXPECTED_ERROR' });
  });

  it('has a service in memory for a test, which knows nobody of another test', async () => {
    const [code = ''] = codeBelow(PAGE, 'In memory, for tests of applications', 'ts');
    const statuses: number[] = [];
    const send = async (...given: Parameters<typeof fetch>) => void statuses.push((await fetch(...given)).status);
    for (const _test of [1, 2]) {
      const program = code.replaceAll('4000', `${await freePort()}`);
      await runCode(program, { tandem: QUIET, directory: temporaryDirectory().path, fetch: send });
    }
    expect(statuses).toEqual([201, 201]);
  });

  it('has the command over a store, which it closes', async () => {
    const [code = ''] = codeBelow(PAGE, "The operator's command", 'ts');
    const process = { argv: ['node', 'users.ts', 'find', 'nobody'], env: { LOG_LEVEL: 'silent' }, exitCode: 0 };
    const close = vi.fn();
    await runCode(code, { manageUsers: tandem.manageUsers, storage: tandem.memoryStorage(), close, process });
    expect(process.exitCode).toBe(3);
    expect(close).toHaveBeenCalledOnce();
  });

  it.runIf(TEST_DATABASE_URL !== undefined)('and its example have users in a table of the shop', async () => {
    const { url } = await createDatabase(TEST_DATABASE_URL ?? '');
    const pool = new Pool({ connectionString: url });
    runAtEnd(() => pool.end());
    const [made = ''] = codeBelow('examples/own-store/README.md', 'A store of your own, in PostgreSQL', 'ts');
    const [over = ''] = codeBelow(PAGE, 'Users in a table of your own', 'ts');
    const ours = { ...tandem, pool, CUSTOMERS, createTables, pgRecords, shopUsers };
    const given = await runCode(made, ours, 'records', 'sql', 'storage');
    const { storage } = await runCode(over, { ...ours, ...given }, 'storage');
    for (const each of [given.storage, storage]) await each.users.add(aUser());
    expect((await pool.query('select id from public.customers')).rows).toHaveLength(2);
  });
});

// docs/own-store.md: the contract, over the six methods, over a database in memory.
const [six] = codeBelow('docs/own-store.md', 'The six methods', 'ts');
const program = `const open = (database) => { ${six} return records; };`;
const { open } = await runCode(
  program,
  { recordsOver: tandem.recordsOver, callsOver: (calls: unknown) => calls },
  'open',
);
const newDatabase = () => {
  const rows = memoryRows();
  return { ...callsOver(rows), transaction: transactOver(rows) };
};
const refuse = () => Promise.reject(new tandem.AppError('DB_QUERY_FAILED', { reason: 'a test' }));
let database = newDatabase();
await runCode(codeBelow('docs/own-store.md', 'Test it', 'ts')[0] ?? expect.unreachable(), {
  'tandem/contracts': {
    absent,
    describeRecords: (name: string, make: Parameters<typeof describeRecords>[1]) =>
      describeRecords(name, () => {
        database = newDatabase();
        return make();
      }),
  },
  openRecords: (url: string) => open(url === 'memory' ? database : { ...callsMadeBy(refuse), transaction: refuse }),
  url: 'memory',
  setImmediate,
});

it('docs/back-office.md lists users', async () => {
  const { path } = temporaryDirectory();
  const [port, out] = [`${await freePort()}`, join(path, 'support')];
  await runHere(['keys', 'admin', '--out', out]);
  const service = await runService({ ADMIN_PORT: port, ADMIN_KEYS_FILE: join(out, 'admin-keys.json') });
  const person = aPerson();
  const headers = { 'Content-Type': 'application/json' };
  await fetch(`${service.url}/auth/register`, { method: 'POST', headers, body: JSON.stringify(person) });
  const [code = ''] = codeBelow('docs/back-office.md', 'Call it', 'js');
  const log = vi.fn();
  await runCode(code.replace('9470', port).replace("'support/", `'${out}/`), { console: { log } });
  expect(log.mock.calls).toEqual([[expect.any(String), person.username, person.email]]);
});

it('docs/verify-tokens.md answers who has a token, until the session ends', async () => {
  const { url, register } = await started(undefined, {}, { JWT_AUDIENCE: 'https://api.example.com' });
  const followEndedSessions = (given: Parameters<typeof server.followEndedSessions>[0]) => {
    const followed = server.followEndedSessions(given);
    runAtEnd(followed.close);
    return followed;
  };
  const [code = ''] = codeBelow('docs/verify-tokens.md', 'Tokens that are bound to a key', 'ts');
  const scope = { 'tandem-client/server': { ...server, followEndedSessions } };
  const { answer } = await runCode(code.replaceAll('https://auth.example.com', url), scope, 'answer');
  const { accessToken, user, cookie } = await register();
  const asked = async (headers = {}) =>
    (await answer(new Request('https://api.example.com/', { headers }))) as Response;
  expect((await asked()).status).toBe(401);
  const headers = { Authorization: `Bearer ${accessToken}` };
  expect(await (await asked(headers)).json()).toEqual({ hello: user.username });
  await fetch(`${url}/auth/clear-cookie`, { headers: { Cookie: cookie } });
  await vi.waitFor(async () => expect((await asked(headers)).status).toBe(401), 20_000);
});

it('docs/server-rendering.md knows by the refresh cookie who asks for a page', async () => {
  const [id, secret] = ['pages', 'a secret of the pages'];
  const { url, register } = await started(
    undefined,
    {},
    { PAGE_SERVERS: `${id}:${hash('sha256', secret, 'base64url')}` },
  );
  const { user, cookie } = await register();
  const [code = ''] = codeBelow('docs/server-rendering.md', 'The other way', 'ts');
  const scope = { createServerAuth: server.createServerAuth, process: { env: { PAGE_SERVER_SECRET: secret } } };
  const { auth } = await runCode(code.replace('https://app.example.com', url), scope, 'auth');
  const headers = { Cookie: cookie, 'X-Real-IP': '192.0.2.7' };
  expect(await auth.getUser(new Request(url, { headers }))).toMatchObject(user);
});
