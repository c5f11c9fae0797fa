import { expect, vi } from 'vitest';
import { postgresOfTheTests } from '../servers/of-the-tests.ts';
import { createDatabase, inTransaction, onPostgresql } from '../storage/databases.ts';
import { openDatabase } from '../storage/open-database.ts';
import { runService } from './process.ts';
import { ask } from './sessions-under-load.ts';

/** Options of `vi.waitFor` in milliseconds, with a time-out that only a hang exceeds. */
export const SOON = { timeout: 60_000, interval: 20 };

/** A time limit that only a request that hangs exceeds, even on a slow machine. */
export const LONG_TIMEOUTS = { REQUEST_TIMEOUT_MS: '600000' };

export type ServiceOnPostgres = Awaited<ReturnType<typeof startOnPostgres>>;

/** Starts the service in a new process, with a new database on PostgreSQL. */
export const startOnPostgres = async (given: Readonly<Record<string, string>> = {}) => {
  const { url } = await createDatabase(postgresOfTheTests() ?? '');
  const database = await openDatabase(onPostgresql(url), { migrate: true });
  const own = { BCRYPT_COST: '4', RATE_LIMITS: 'off', DATABASE_URL: url };
  const env: Record<string, string> = { ...LONG_TIMEOUTS, ...own, ...given };
  const service = await runService(env);
  await vi.waitFor(async () => expect((await ask(`${service.url}/health/ready`)).status).toBe(200), SOON);

  /** Runs `work` while a transaction locks all rows of sessions. */
  const whileRowsLocked = (work: () => Promise<unknown>) =>
    inTransaction(database, async (send) => {
      await send('select id from sessions for update');
      await work();
    });
  /** Runs `work` while the process of the service is suspended. */
  const whileStopped = async (work: () => Promise<unknown>) => {
    service.child.kill('SIGSTOP');
    await work().finally(() => service.child.kill('SIGCONT'));
  };
  return {
    env,
    url: () => service.url,
    whileRowsLocked,
    whileStopped,
    query: (sql: string, parameters: readonly unknown[] = []) => database.em.execute(sql, [...parameters]),
  };
};
