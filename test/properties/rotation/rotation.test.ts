import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Database } from '../../../src/adapters/mikro-orm/open-database.ts';
import { memoryStorage } from '../../../src/adapters/records/memory.ts';
import { storageOver } from '../../../src/adapters/records/storage.ts';
import { holds } from '../../support/properties/properties.ts';
import { programs } from '../../support/rotation/program.ts';
import { openEmbedded, openOnPostgresql, TEST_DATABASE_URL } from '../../support/storage/databases.ts';
import { play, type Store } from './play.ts';

/*
 * Random programs of log-ins, refreshes, replays, races, log-outs, faults and waits. Each run prints the seeds of its
 * properties; `FC_SEED=<seed> vitest run test/properties/rotation/rotation.test.ts` repeats it.
 */

const RUNS_IN_MEMORY = 1_000;
/** Programs on a PostgreSQL, and on a file of SQLite. */
const RUNS_ON_POSTGRESQL = 60;
const RUNS_ON_SQLITE = 20;

/** The possible results of a refresh. */
const OUTCOMES = [
  'token N',
  'token N again',
  'AUTH_FAILED raced',
  'AUTH_FAILED reused',
  'AUTH_FAILED ended',
  'AUTH_FAILED not verified',
  'DB_QUERY_FAILED',
  'timed out',
  'AUTH_FAILED, AUTH_FAILED, token N',
  'token N, token N again, token N again',
];

const inMemory = (): Store => memoryStorage();
const onDatabase = ({ records }: Database): Store => storageOver(records);

describe('the rotation of refresh tokens', () => {
  it('gives the results of the model for every program, in memory', async () => {
    const seen = new Set<string>();
    const property = fc.asyncProperty(programs({ maxLength: 30 }), async (program) => {
      for (const line of await play(inMemory(), program)) {
        seen.add(line.replaceAll(/\d+/g, 'N'));
      }
    });
    await holds(property, { numRuns: RUNS_IN_MEMORY });
    expect(OUTCOMES.filter((outcome) => !seen.has(`refresh: ${outcome}`))).toEqual([]);
  });

  const onStore = (
    name: string,
    numRuns: number,
    open: () => Promise<{ store: Store; close: () => Promise<unknown> }>,
  ) =>
    it(`gives the same results on ${name} as in memory, step by step`, async () => {
      const { store, close } = await open();
      const property = fc.asyncProperty(programs({ maxLength: 20 }), async (program) => {
        expect(await play(store, program)).toEqual(await play(inMemory(), program));
      });
      await holds(property, { numRuns }).finally(close);
    }, 600_000);

  const server = TEST_DATABASE_URL;
  const opened = async (database: Database) => ({ store: onDatabase(database), close: database.close });
  onStore('SQLite', RUNS_ON_SQLITE, async () => opened(await openEmbedded()));
  if (server !== undefined)
    onStore('PostgreSQL', RUNS_ON_POSTGRESQL, async () => opened(await openOnPostgresql(server)));
});
