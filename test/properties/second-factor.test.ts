import fc from 'fast-check';
import { describe, it } from 'vitest';
import { memoryStorage } from '../../src/adapters/records/memory.ts';
import { openSql } from '../../src/infrastructure/open-sql.ts';
import { holds } from '../support/properties/properties.ts';
import { play, programs, type World } from '../support/second-factor/play.ts';
import { sequentialIds } from '../support/sequential-ids.ts';
import { createDatabase, onPostgresql, TEST_DATABASE_URL } from '../support/storage/databases.ts';

describe('the sessions of a user with a second factor', () => {
  const hold = (world: () => World, maxLength: number, numRuns: number) =>
    holds(
      fc.asyncProperty(programs({ maxLength }), async (steps) => {
        await play(world(), steps);
        return true;
      }),
      { numRuns },
    );

  it('have shown it, in whatever order things happen', async () => {
    await hold(() => ({ storage: memoryStorage(), ids: sequentialIds() }), 40, 120);
  });

  it.runIf(TEST_DATABASE_URL !== undefined)('have shown it, over PostgreSQL as well', async () => {
    const { url, drop } = await createDatabase(TEST_DATABASE_URL ?? '');
    const { close, ...storage } = await openSql(onPostgresql(url), { migrate: true });
    const ids = sequentialIds();
    const held = hold(() => ({ storage, ids }), 30, 5);
    await held.finally(close).finally(drop);
  });
});
