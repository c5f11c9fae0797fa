import { CompiledQuery, Kysely, PostgresDialect } from 'kysely';
import { Pool, type PoolClient } from 'pg';
import { expect, it, onTestFinished } from 'vitest';
import { POSTGRESQL } from '../../../src/adapters/mikro-orm/dialects.ts';
import type { Sql } from '../../../src/adapters/mikro-orm/statements.ts';
import { TEST_DATABASE_URL } from '../../support/storage/databases.ts';

const server = TEST_DATABASE_URL;

/** One connection, on which the message that begins a transaction fails after `begin`, as by a cancellation. */
const openFailing = (url: string): Sql => {
  const pool = new Pool({ connectionString: url, max: 1 });
  const failing = (client: PoolClient) => ({
    query: (text: string, values: unknown[]) =>
      text.startsWith('begin') ? client.query(`${text}; select 1 / 0`) : client.query(text, values),
    release: () => client.release(),
  });
  const dialect = new PostgresDialect({
    pool: { options: {}, connect: async () => failing(await pool.connect()) as never, end: () => pool.end() },
  });
  return new Kysely({ dialect });
};

it.runIf(server !== undefined)('a transaction that fails when it begins leaves nothing on its connection', async () => {
  const db = openFailing(server ?? '');
  onTestFinished(() => db.destroy());
  await expect(POSTGRESQL.transact(db, async () => undefined)).rejects.toMatchObject({ code: '22012' });
  const { rows } = await db.executeQuery(CompiledQuery.raw('select 1 as answer'));
  expect(rows).toEqual([{ answer: 1 }]);
});
