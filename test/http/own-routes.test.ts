import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { type Route, route } from '../../src/adapters/http/routing/define-route.ts';
import { memoryStorage } from '../../src/adapters/records/memory.ts';
import type { OwnTables } from '../../src/adapters/records/own-tables.ts';
import { AppError } from '../../src/domain/errors/app-error.ts';
import { CATALOG } from '../../src/domain/errors/catalog.ts';
import { extendCatalog, ownEntry } from '../../src/domain/errors/own-errors.ts';
import type { Overrides } from '../../src/infrastructure/compose/ports.ts';
import { parseConfig } from '../../src/infrastructure/config.ts';
import { migrate, open as openUseCases } from '../../src/infrastructure/open.ts';
import { signUp, tokensOf } from '../support/http/auth-http.ts';
import { aPerson, startService } from '../support/http/service.ts';
import { stageApp } from '../support/http/stage-app.ts';
import { temporaryDirectory } from '../support/storage/temporary-directory.ts';

const GONE = { status: 404, message: 'There is no such order.', description: 'The order was removed.' };
const BROKEN = { status: 503, message: 'The shop is closed.', description: 'Try later.', retryable: true };

const order = route({
  name: 'order',
  summary: 'Return an order',
  at: 'GET /orders/:id',
  throttle: 'strict',
  request: { params: v.object({ id: v.pipe(v.string(), v.maxLength(5)) }) },
  response: { data: v.object({ id: v.string(), of: v.string() }) },
  errors: { SHOP_ORDER_NOT_FOUND: GONE, SHOP_STOCK_CLOSED: BROKEN, DB_UNIQUE_VIOLATION: true },
  handler: ({ params: { id }, claims }) => {
    if (id === 'gone') throw new AppError('SHOP_ORDER_NOT_FOUND', { reason: 'why' });
    if (id === 'busy') throw new AppError('SHOP_STOCK_CLOSED', { retryAfter: 7, reason: 'closed' });
    if (id === 'twice') throw new AppError('DB_UNIQUE_VIOLATION');
    return { id, of: claims.user.username, secret: 'not in the schema' };
  },
});

const open = (name: string, path: Route['path'], handler: () => null = () => null) =>
  route({ name, summary: 'A test', at: `GET ${path}`, auth: 'public', response: { data: v.null() }, handler });

const person = aPerson();
const service = await startService({}, { routes: ({ clock }) => (clock ? [order] : []) });
const token = tokensOf(await service.http.post('/auth/register').send(person).expect(201)).accessToken;

describe('routes of an application', () => {
  const get = (id: string) => service.http.get(`/orders/${id}`).set('Authorization', `Bearer ${token}`);

  it('have the guard, the validation, the schema of the response and the envelope', async () => {
    expect((await service.http.get('/orders/1').expect(401)).body.code).toBe('AUTH_TOKEN_MISSING');
    expect((await get('123456').expect(400)).body.details).toMatchObject([{ field: 'id', code: 'too_long' }]);
    const { body } = await get('1').expect(200);
    expect(body).toMatchObject({ success: true, context: { user: { username: person.username } } });
    expect(body.data).toEqual({ id: '1', of: person.username });
  });

  it.each([
    ['gone', 404, { code: 'SHOP_ORDER_NOT_FOUND', message: GONE.message }],
    ['busy', 503, { code: 'SHOP_STOCK_CLOSED', message: BROKEN.message }],
    ['twice', 409, { code: 'DB_UNIQUE_VIOLATION', message: CATALOG.DB_UNIQUE_VIOLATION.message }],
  ])('respond to %s with its code, as the OpenAPI document says', async (id, status, error) => {
    const { body } = await get(id).expect(status);
    expect(body).toMatchObject({ ...error, type: `https://auth.example.org/errors/${error.code}` });
    const { body: document } = await service.http.get('/openapi.json').expect(200);
    const operation = document.paths['/orders/{id}'].get;
    expect(operation.tags).toEqual(['application']);
    expect(operation.responses[status]).toBeDefined();
    expect(document.components.schemas[error.code]).toBeDefined();
    const docs = await service.http.get('/docs').set('Accept', 'text/html').expect(200);
    expect(docs.text).toContain(error.code);
  });

  it('refuse the token of a session that has ended', async () => {
    const { accessToken, cookie } = await signUp(service);
    const ask = () => service.http.get('/orders/1').set('Authorization', `Bearer ${accessToken}`);
    await ask().expect(200);
    await service.http.get('/auth/clear-cookie').set('Cookie', cookie).expect(200);
    expect((await ask().expect(401)).body.code).toBe('AUTH_TOKEN_INVALID');
  });

  it('are limited in their tier', async () => {
    const limited = await startService({ RATE_LIMITS: 'strict=2/60' }, { routes: () => [order] });
    for (const status of [401, 401, 429]) await limited.http.get('/orders/1').expect(status);
  });

  it('log their errors with the level of the status, and say when to try again', async () => {
    expect((await get('busy')).headers['retry-after']).toBe('7');
    await get('gone');
    const levelOf = (code: string) => service.logs.findLast((line) => line.code === code && 'reason' in line)?.level;
    expect([levelOf('SHOP_STOCK_CLOSED'), levelOf('SHOP_ORDER_NOT_FOUND')]).toEqual(['error', 'info']);
  });

  it('have their codes in the catalog, for programs and for people', async () => {
    const { body } = await service.http.get('/errors').expect(200);
    const listed = body.data.filter(({ code }: { code: string }) => code.startsWith('SHOP_'));
    expect(listed).toMatchObject([
      { code: 'SHOP_ORDER_NOT_FOUND', statusCode: 404, retryable: false, description: GONE.description },
      { code: 'SHOP_STOCK_CLOSED', statusCode: 503, retryable: true },
    ]);
    const one = await service.http.get('/errors/SHOP_ORDER_NOT_FOUND').expect(200);
    expect(one.body.data).toEqual(listed[0]);
    const page = await service.http.get('/errors/SHOP_ORDER_NOT_FOUND').set('Accept', 'text/html').expect(200);
    expect(page.text).toContain(GONE.description);
    expect(page.text).not.toContain('undefined');
  });

  it('do not stand before those of the service: the router prefers the last one', async () => {
    expect(service.routes[0]?.name).toBe(order.name);
    const reached: string[] = [];
    const note = (name: string) => () => {
      reached.push(name);
      return null;
    };
    const { http, undocumented } = await stageApp([
      open('any', '/:page', note('any')),
      open('one', '/one', note('one')),
    ]);
    await http.get('/one').expect(200);
    await http.get('/two').expect(200);
    expect(reached).toEqual(['one', 'any']);
    expect(undocumented()).toEqual([]);
  });
});

describe('routes over a table of an application', () => {
  const tables = { orders: { columns: { id: 'text', note: 'text?' }, key: ['id'] } } as const;
  const routes: Overrides<typeof tables>['routes'] = ({ records, transactions }) => [
    route({
      ...{ name: 'place', summary: 'A test', at: 'POST /orders', auth: 'public' },
      request: { body: v.object({ id: v.string() }) },
      response: { data: v.number() },
      errors: { DB_UNIQUE_VIOLATION: true },
      handler: async ({ body: { id } }) => {
        await transactions.run((stores) => stores.records.insert('orders', { id, note: null }));
        // @ts-expect-error there is no such column
        const all = (): unknown => records.list('orders', { order: ['title'] });
        // @ts-expect-error there is no such table
        const others = (): unknown => records.list('users', {});
        expect([all, others]).toHaveLength(2);
        return (await records.list('orders', { order: ['id'] })).length;
      },
    }),
  ];
  const own = { tables, routes: routes as Overrides['routes'] & {} };

  it('read and write its rows, also in a transaction', async () => {
    const service = await startService({}, { ...own, storage: memoryStorage(tables) });
    const place = (id: string) => service.http.post('/orders').send({ id });
    expect((await place('a').expect(200)).body.data).toBe(1);
    expect((await place('b').expect(200)).body.data).toBe(2);
    expect((await place('b').expect(409)).body.code).toBe('DB_UNIQUE_VIOLATION');
  });

  it.each([
    ['made with others', memoryStorage()],
    ['without any', { ...memoryStorage(), records: undefined as never }],
  ])('do not start over a storage %s', async (_what, storage) => {
    await expect(startService({}, { ...own, storage })).rejects.toThrow('tables: orders cannot be read');
  });

  it('do not start over a database that has them not, or without a column', async () => {
    const { path } = temporaryDirectory();
    const config = parseConfig({ NODE_ENV: 'test', LOG_LEVEL: 'fatal', DATA_DIR: path });
    await migrate(config);
    const start = async (given: OwnTables) =>
      (await openUseCases({ ...config, migrateOnStart: false }, { tables: given })).close();
    await expect(start(tables)).rejects.toThrow('tables: orders cannot be read: SQLite 1 (no such table)');
    await migrate(config, tables);
    await start(tables);
    const columns = { ...tables.orders.columns, added: 'text' } as const;
    await expect(start({ orders: { ...tables.orders, columns } })).rejects.toThrow('(no such column)');
    await expect(start({ Orders: tables.orders })).rejects.toThrow('tables: Orders');
  });
});

describe('a service does not start', () => {
  const twice = (given: typeof GONE) => {
    const declaration = { name: 'other', summary: 'A test', at: 'GET /other' } as const;
    return route({
      ...declaration,
      response: { data: v.null() },
      errors: { SHOP_ORDER_NOT_FOUND: given },
      handler: () => null,
    });
  };

  it.each([
    ['the name of another', [open('login', '/shop')], 'login (GET /shop)'],
    ['the path of another', [open('shop', '/errors')], 'shop (GET /errors)'],
    ['a path twice', [open('a', '/shop'), open('b', '/shop')], 'a (GET /shop)'],
    ['a code declared differently', [order, twice({ ...GONE, status: 410 })], 'SHOP_ORDER_NOT_FOUND'],
  ])('with a route that has %s', async (_what, routes, named) => {
    await expect(startService({}, { routes: () => routes })).rejects.toThrow(named);
  });

  it('but with one code that two routes declare alike', async () => {
    await (await startService({}, { routes: () => [order, twice({ ...GONE })] })).close();
  });
});

describe('a code that no route declares', () => {
  it.each(['test', 'production'] as const)('is an unexpected error in the environment %s', async (nodeEnv) => {
    const routes = [
      open('bad', '/bad', () => {
        throw new AppError('SHOP_ORDER_NOT_FOUND');
      }),
    ];
    const service = await startService({}, { routes: () => routes }, { nodeEnv });
    expect((await service.http.get('/bad').expect(500)).body.code).toBe('SYS_UNEXPECTED_ERROR');
    await expect(service.close()).rejects.toThrow('undeclared error code SHOP_ORDER_NOT_FOUND');
  });
});

it.each([
  ['SHOP_ORDER', GONE],
  ['shop_order_gone', GONE],
  ['SHOP_ORDER_', GONE],
  ['AUTH_ORDER_GONE', GONE],
  ['DB_QUERY_FAILED', GONE],
  ['SHOP_ORDER_GONE', { ...GONE, status: 200 }],
  ['SHOP_ORDER_GONE', { ...GONE, status: 404.5 }],
  ['SHOP_ORDER_GONE', { ...GONE, status: 600 }],
])('the code %s with %o is refused, with its name', (code, error) => {
  expect(() => ownEntry(code, error)).toThrow(code);
});

it('the extended catalog and its entries cannot be changed, and that of the service has not', () => {
  const catalog = extendCatalog([order.ownErrors]);
  expect(Object.isFrozen(catalog) && Object.isFrozen(order.ownErrors.SHOP_ORDER_NOT_FOUND)).toBe(true);
  expect(CATALOG).not.toHaveProperty('SHOP_ORDER_NOT_FOUND');
});

it('misspelt codes of the service do not compile', () => {
  // @ts-expect-error there is no such code
  expect(new AppError('DB_QUERY_FALED').code).toBe('DB_QUERY_FALED');
});
