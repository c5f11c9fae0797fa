import { Pool } from 'pg';
import { type Records, storageOver, storesOver, type User } from 'tandem';
import { NOW } from 'tandem/contracts';
import { expect } from 'vitest';
import { pgRecords, type Sql } from '../../../examples/own-store/records.ts';
import { createTables } from '../../../examples/own-store/schema.ts';
import { CUSTOMERS, shopUsers } from '../../../examples/own-store/shop-users.ts';
import { createDatabase } from './databases.ts';
import { ROOT_TABLES } from './open-database.ts';

type Over = { readonly records: Records } & Sql;

/** Makes a copy of a pool whose statements fail with an error of the driver that quotes their values. */
const failingPool = (pool: Pool): Pool => {
  const query = (_text: string, values: readonly unknown[] = []) =>
    pool.query('select $1::text::int', [JSON.stringify(values)]);
  const client = { query, on: () => undefined, release: () => undefined };
  const copy = Object.assign(Object.create(pool), { connect: async () => client, on: () => copy });
  return copy;
};

const VERIFIED = `update public.customers
  set account = replace(account, '"emailVerifiedAt":null', '"emailVerifiedAt":' || $2::bigint) where id = $1`;

/**
 * Creates a database with the tables of the example `own-store`.
 * @param users whether the users are in the table of the service or in the shop's table of customers
 */
export const openOwnStore = async (server: string, users: 'own' | 'shop') => {
  const { url, drop } = await createDatabase(server);
  const [pool, other] = [new Pool({ connectionString: url }), new Pool({ connectionString: url })];
  if (users === 'shop') await pool.query(CUSTOMERS);
  await createTables(pool, users === 'shop' ? 'public.customers' : undefined);
  const [ours, theirs] = [pgRecords(pool), pgRecords(other)];
  const [, ...others] = ROOT_TABLES.map((name) => `auth.${name}`);
  const tables = [users === 'own' ? 'auth.users' : 'public.customers', ...others];
  const WAITING = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  const untilOneWaits = () => expect.poll(async () => (await other.query(WAITING)).rows.length).toBe(1);
  return {
    ours,
    theirs,
    failing: () => pgRecords(failingPool(pool)),
    storageOf: ({ records, ...sql }: Over) =>
      users === 'own' ? storageOver(records) : storageOver(records, (inside) => storesOver(inside, shopUsers(sql))),
    untilOneWaits,
    /** Locks the second customer and then waits for the first, so that a deadlock makes the other transaction fail. */
    interfere: async (first: User, second: User) => {
      const client = await other.connect();
      await client.query(`begin; set local deadlock_timeout = '1h'`);
      await client.query('select id from public.customers where id = $1 for update', [second.id]);
      const over = client
        .query(VERIFIED, [first.id, NOW])
        .then(() => client.query('commit'))
        .finally(() => client.release());
      await untilOneWaits();
      return { over };
    },
    empty: async () => {
      for (const each of tables) await pool.query(`delete from ${each}`);
    },
    close: async () => {
      await pool.end();
      await other.end();
      await drop();
    },
  };
};
