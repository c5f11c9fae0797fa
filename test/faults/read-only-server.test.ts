import { beforeAll, describe, expect, it, vi } from 'vitest';
import { type RunningService, runService } from '../support/processes/process.ts';
import { ask, type Holder, signUpAt } from '../support/processes/sessions-under-load.ts';
import { freePort } from '../support/servers/free-port.ts';
import { canStartServers, startPostgres } from '../support/servers/of-the-tests.ts';
import type { TestServer } from '../support/servers/server.ts';
import { onPostgresql } from '../support/storage/databases.ts';
import { type Database, openDatabase } from '../support/storage/open-database.ts';

/** Milliseconds; the time-out only catches hangs. */
const SOON = { timeout: 60_000, interval: 50 };
const CLIENTS = 10;

/**
 * After a fail-over, connections that are open lead to the former primary, which is read-only; new ones lead to the new primary. The setting of
 * a role does the same: it holds for the connections that are opened while it is set, for as long as they live.
 */
describe.runIf(canStartServers())('when the primary became read-only, and the address leads to another one', () => {
  let postgres: TestServer;
  let admin: Database;
  let metrics: number;
  let service: RunningService;
  let holders: readonly Holder[];
  beforeAll(async () => {
    postgres = await startPostgres();
    metrics = await freePort();
    admin = await openDatabase(onPostgresql(postgres.url), { migrate: true });
    await admin.em.execute('set default_transaction_read_only = off');
    service = await runService({
      DATABASE_URL: postgres.url,
      BCRYPT_COST: '4',
      RATE_LIMITS: 'off',
      METRICS: String(metrics),
      // However slow the machine is, nothing is too late; only a hang is.
      REQUEST_TIMEOUT_MS: '600000',
    });
    holders = await Promise.all(Array.from({ length: CLIENTS }, () => signUpAt(service.url)));
  });

  const refreshAll = () => Promise.all(holders.map(({ refresh }) => refresh(service.url)));
  /** The value of a metric. */
  const metric = async (name: string) => {
    const text = await (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text();
    return text
      .split('\n')
      .find((line) => line.startsWith(`${name} `))
      ?.slice(name.length + 1);
  };
  const readiness = async () => (await ask(`${service.url}/health/ready`)).status;

  it('refreshes fail, and the service is not ready', async () => {
    await admin.em.execute('alter role current_user set default_transaction_read_only = on');
    await admin.em.execute('select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid()');
    await vi.waitFor(async () => expect(await readiness()).toBe(503), SOON);
    const refused = async () => Number(await metric('tandem_database_failures_total{class="read-only"}'));
    // The first ones may still get connections that have just been ended.
    do {
      for (const { status, code } of await refreshAll()) expect([status, code]).toEqual([500, 'DB_QUERY_FAILED']);
    } while ((await refused()) < CLIENTS);
    // Also when there is no such metric.
    expect(await refused()).toBeGreaterThanOrEqual(CLIENTS);
    expect(await readiness()).toBe(503);
    expect(await metric('tandem_ready')).toBe('0');
  });

  it('all of them succeed with the tokens that they had, as soon as the service is ready', async () => {
    await admin.em.execute('alter role current_user reset default_transaction_read_only');
    await vi.waitFor(async () => expect(await readiness()).toBe(200), SOON);
    for (const { status } of await refreshAll()) expect(status).toBe(200);
    expect([await metric('tandem_ready'), await metric('tandem_database_connections_max')]).toEqual(['1', '10']);
  });
});
