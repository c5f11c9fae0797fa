import fc from 'fast-check';
import { describe, it } from 'vitest';
import type { Database } from '../../src/adapters/mikro-orm/open-database.ts';
import { storageOver } from '../../src/adapters/records/storage.ts';
import { play } from '../support/binding/play.ts';
import { programs } from '../support/binding/program.ts';
import { holds } from '../support/properties/properties.ts';
import { openEmbedded, openOnPostgresql, TEST_DATABASE_URL } from '../support/storage/databases.ts';

/*
 * The property of device-binding.test.ts, over databases. `FC_SEED=<seed> vitest run test/properties/device-binding-stores.test.ts` repeats
 * the programs of a run, but not the order in which a server handles concurrent requests.
 */

describe('a session with a key of its device', () => {
  const onStore = (name: string, numRuns: number, open: () => Promise<Database>) =>
    it(`survives its own browser, and yields a thief nothing, on ${name}`, async () => {
      const { records, close } = await open();
      const store = storageOver(records);
      const program = fc.boolean().chain((attacks) => programs({ maxLength: 30, attacks }));
      const played = fc.asyncProperty(program, async (given) => {
        await play(store, given);
      });
      await holds(played, { numRuns }).finally(close);
    }, 600_000);

  const server = TEST_DATABASE_URL;
  onStore('SQLite', 30, openEmbedded);
  if (server !== undefined) onStore('PostgreSQL', 100, () => openOnPostgresql(server));
});
