import { describe, expect, it } from 'vitest';
import { memoryRecords } from '../../../src/adapters/records/memory.ts';
import { type OwnTable, ownRecords, withOwnTables } from '../../../src/adapters/records/own-tables.ts';
import { storageOver } from '../../../src/adapters/records/storage.ts';
import { type Records, violates } from '../../../src/application/storage/records.ts';
import { aUser } from '../../support/builders.ts';
import { catalogOf } from '../../support/storage/catalogs.ts';
import { ALL_KINDS } from '../../support/storage/kinds.ts';
import { openDatabase } from '../../support/storage/open-database.ts';

const TABLES = {
  orders: {
    columns: { id: 'text', userId: 'text', number: 'integer', isPaid: 'boolean', lines: 'json', note: 'text?' },
    key: ['id'],
    unique: { number: ['number'] },
    indexes: { user: ['userId', 'number'] },
    ofUser: true,
  },
  users: { columns: { id: 'text' }, key: ['id'] },
} as const;
const ORDER = { id: 'a', number: 1, isPaid: false, lines: [{ title: 'A lamp' }], note: null };

const withOurs = { migrate: true, tables: withOwnTables(TABLES) };

const MEMORY = { on: 'memory', start: async (): Promise<Records> => memoryRecords(TABLES) };
const DATABASES = ALL_KINDS.map(({ on, empty }) => ({
  on,
  start: async (): Promise<Records> => (await openDatabase(await empty(), withOurs)).records,
}));

describe.each([MEMORY, ...DATABASES])('tables of an application in $on', ({ start }) => {
  const stored = async () => {
    const { records, ...storage } = storageOver(await start());
    return { ...storage, records: ownRecords(records) };
  };

  it('keep rows of their own, whatever the names of those of the service are', async () => {
    const { users, records } = await stored();
    const user = aUser();
    await users.add(user);
    const order = { ...ORDER, userId: user.id };
    await records.insert('orders', order);
    await records.insert('users', { id: 'nobody' });
    expect(await users.findById('nobody')).toBeNull();
    const [found = expect.unreachable()] = await records.list('orders', { equal: { userId: user.id } });
    expect(found).toMatchObject(order);
    expect(await records.replace('orders', found, { ...order, isPaid: true })).toBe(true);
    expect(await records.replace('orders', found, order)).toBe(false);
    expect(await records.lock('orders', { id: 'a' })).toMatchObject({ isPaid: true });
    const twice = records.insert('orders', { ...order, id: 'b' });
    expect(violates(await twice.catch((error: unknown) => error), 'app_orders_number')).toBe(true);
    await users.remove(user.id);
    expect(await records.list('orders', { order: ['id'] })).toEqual([]);
    await expect(records.insert('orders', order)).rejects.toMatchObject({ code: 'DB_QUERY_FAILED' });
  });

  it('change together with those of the service, or not at all', async () => {
    const { users, records, transactions } = await stored();
    const user = aUser();
    const add = (fails: boolean) =>
      transactions.run(async (stores) => {
        await stores.users.add(user);
        await ownRecords(stores.records).insert('orders', { ...ORDER, userId: user.id });
        if (fails) throw new Error('the shop is closed');
      });
    await expect(add(true)).rejects.toThrow('the shop is closed');
    expect([await users.findById(user.id), await records.list('orders', { order: ['id'] })]).toEqual([null, []]);
    await add(false);
    expect(await records.list('orders', { order: ['id'] })).toHaveLength(1);
  });
});

it.each(ALL_KINDS)(
  'a database on $on gets the tables that are missing, as a new one has them, also from several processes',
  async ({ kind, empty }) => {
    const options = await empty();
    const before = await openDatabase(options, { migrate: true });
    const one = { migrate: true, tables: withOwnTables({ users: TABLES.users }) };
    await Promise.all([openDatabase(options, one), openDatabase(options, one), openDatabase(options, withOurs)]);
    expect(await catalogOf(before, kind)).toEqual(await catalogOf(await openDatabase(await empty(), withOurs), kind));
    expect((await before.examine()).schema).toEqual({ pending: [], unknown: [] });
    const { pending } = (await (await openDatabase(await empty(), { ...withOurs, migrate: false })).examine()).schema;
    expect(pending).toContain('tables');
  },
);

const { orders } = TABLES;
it.each<[string, string, OwnTable]>([
  ['Orders', 'has a name', orders],
  ['orders', 'has a name, or an index', { ...orders, indexes: { 'A B': ['userId'] } }],
  ['orders', 'has a column', { ...orders, columns: { ...orders.columns, 'other-name': 'text' } }],
  ['orders', 'has a column', { ...orders, columns: { ...orders.columns, version: 'integer' } }],
  ['orders', 'has a column', { ...orders, columns: { ...orders.columns, date: 'date' as never } }],
  ['orders', 'has an index over', { ...orders, indexes: { title: ['title'] } }],
  ['orders', 'needs a key', { ...orders, key: [] }],
  ['orders', 'needs a key', { ...orders, key: ['note'] }],
  ['orders', 'is ofUser', { ...orders, indexes: {} }],
  ['orders', 'is ofUser', { ...orders, columns: { ...orders.columns, userId: 'integer' } }],
])('a declaration of %s is refused: %s', (name, problem, table) => {
  expect(() => withOwnTables({ [name]: table })).toThrow(problem);
});

it.each<[string, string, OwnTable]>([
  ['a table', 'a'.repeat(16), orders],
  ['an index', 'orders', { ...orders, indexes: { user: ['userId'], ['a'.repeat(22)]: ['number'] } }],
])('%s is refused whose name PostgreSQL would cut', (_what, name, table) => {
  const prefix = 'p'.repeat(31);
  expect(() => withOwnTables({ [name]: table })).not.toThrow();
  expect(() => withOwnTables({ [name]: table }, prefix)).toThrow('too long after DATABASE_TABLE_PREFIX');
  expect(() => withOwnTables({ orders }, prefix)).not.toThrow();
});
