import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { translated } from '../../src/adapters/mikro-orm/queries.ts';
import { onDatabaseFailure } from '../../src/adapters/resilience/database-failures.ts';
import type { Database } from '../../src/infrastructure/database/database.ts';
import { openEmbedded } from '../support/storage/databases.ts';

/** SQLSTATE codes (PostgreSQL manual, appendix A) that map to DB_QUERY_FAILED, and their class in the metrics. */
const CONDITIONS = [
  ['a lost connection', '08006', 'connection'],
  ['a refused connection', '08001', 'connection'],
  ['too many connections', '53300', 'capacity'],
  ['a cancelled statement', '57014', 'timeout'],
  ['a shutdown of the database', '57P01', 'connection'],
  ['a syntax error', '42601', 'other'],
  ['a missing table', '42P01', 'other'],
  ['a serialization failure', '40001', 'conflict'],
  ['a deadlock', '40P01', 'conflict'],
  ['a server that is read-only', '25006', 'read-only'],
  ['a full disk', '53100', 'capacity'],
  ['a lock that is not released', '55P03', 'timeout'],
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
  it.each(CONDITIONS)('for %s is DB_QUERY_FAILED, and counted once', async (_what, code, failure) => {
    const published: string[] = [];
    onTestFinished(onDatabaseFailure((each) => published.push(each)));
    await expect(raise(code)).rejects.toMatchObject({
      code: 'DB_QUERY_FAILED',
      status: 500,
      level: 'error',
      reason: expect.stringContaining(code),
    });
    expect(published).toEqual([failure]);
  });
});
