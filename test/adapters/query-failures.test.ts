import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { translated } from '../../src/adapters/mikro-orm/translate-error.ts';
import type { Database } from '../../src/infrastructure/database/database.ts';
import { openEmbedded } from '../support/storage/databases.ts';

/** SQLSTATE codes (PostgreSQL manual, appendix A) that map to DB_QUERY_FAILED. */
const CONDITIONS = [
  ['a connection that took too long', '08006'],
  ['a connection that was refused', '08001'],
  ['too many connections', '53300'],
  ['a statement that took too long', '57014'],
  ['a database that shuts down', '57P01'],
  ['a syntax error', '42601'],
  ['a table that is missing', '42P01'],
  ['transactions that conflict', '40001'],
  ['transactions that lock each other out', '40P01'],
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
