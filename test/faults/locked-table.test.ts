import { beforeAll, describe, expect, it, vi } from 'vitest';
import { type ServiceOnPostgres, SOON, startOnPostgres } from '../support/processes/service-on-postgres.ts';
import { ask } from '../support/processes/sessions-under-load.ts';
import { canStartServers } from '../support/servers/of-the-tests.ts';
import { inTransaction, onPostgresql } from '../support/storage/databases.ts';
import { type Database, openDatabase } from '../support/storage/open-database.ts';

const PROBES = 30;
/** What waits for a lock to find out whether the database can be written. */
const WAITING = `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
  and query like 'with %delete from %where false%'`;

const DEGRADED = { data: { status: 'degraded', checks: { database: 'up', tables: 'down' } } };

describe.runIf(canStartServers())('while somebody has locked a table', () => {
  let service: ServiceOnPostgres;
  let other: Database;
  beforeAll(async () => {
    service = await startOnPostgres({ DATABASE_POOL_SIZE: '3' });
    other = await openDatabase(onPostgresql(service.env.DATABASE_URL ?? ''), { migrate: false });
  });

  const ready = () => ask(`${service.url()}/health/ready`);

  it.each([
    ['sessions', 503],
    ['users', 200],
    ['events', 200],
    ['used_values', 200],
  ])('%s: ready says so soon with %i, and asks once, however many ask it', async (table, status) => {
    await inTransaction(other, async (send) => {
      await send(`lock table ${table}`);
      const answers = Promise.all(Array.from({ length: PROBES }, ready));
      await vi.waitFor(async () => expect(await service.query(WAITING)).toHaveLength(1), SOON);
      for (const answer of await answers)
        expect(answer).toMatchObject(status === 503 ? { status } : { status, body: DEGRADED });
      expect((await service.query(WAITING)).length).toBeLessThanOrEqual(1);
    });
    await vi.waitFor(async () => expect((await ready()).body).toMatchObject({ data: { status: 'ready' } }), SOON);
  });
});
