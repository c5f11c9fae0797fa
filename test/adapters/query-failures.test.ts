import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { translated } from '../../src/adapters/mikro-orm/queries.ts';
import type { Database } from '../../src/infrastructure/database/database.ts';
import { openEmbedded } from '../support/storage/databases.ts';

/** SQLSTATE codes (PostgreSQL manual, appendix A) that map to DB_QUERY_FAILED. */
const CONDITIONS = [
  ['a lost connection', '08006'],
  ['a refused connection', '08001'],
  ['too many connections', '53300'],
  ['a cancelled statement', '57014'],
  ['a shutdown of the database', '57P01'],
  ['a syntax error', '42601'],
  ['a missing table', '42P01'],
  ['a serialization failure', '40001'],
  ['a deadlock', '40P01'],
] as const;

describe('a query that fails', () => {
  let database: Database;
  beforeAll(async () => {
    database = await openEmbedded();
  });
  afterAll(() => database?.close());

  const raise = (code: string) =>
    translated(() => database.em.execute(`do $$ begin raise exception 'no' using errcode = '${code}'; end $$`));

  // Proves: catalog-17
  it.each(CONDITIONS)('for %s is DB_QUERY_FAILED', async (_what, code) => {
    await expect(raise(code)).rejects.toMatchObject({
      code: 'DB_QUERY_FAILED',
      status: 500,
      level: 'error',
      reason: expect.stringContaining(code),
    });
  });
});
