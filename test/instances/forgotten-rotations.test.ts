import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PRODUCTION } from '../support/processes/environments.ts';
import { canShare } from '../support/processes/instances.ts';
import { type RunningService, runService } from '../support/processes/process.ts';
import { type Holder, signUpAt } from '../support/processes/sessions-under-load.ts';
import { postgresOfTheTests, redisOfTheTests } from '../support/servers/of-the-tests.ts';
import { createDatabase, onPostgresql } from '../support/storage/databases.ts';
import { type Database, openDatabase } from '../support/storage/open-database.ts';
import { takeRedisDatabase } from '../support/storage/redis-databases.ts';

const USERS = 20;

describe.runIf(canShare())('two instances, whose database has forgotten the last refreshes', () => {
  const running: RunningService[] = [];
  const cleanups: (() => Promise<unknown>)[] = [];
  let database: Database;
  let holders: readonly Holder[];
  beforeAll(async () => {
    const created = await createDatabase(postgresOfTheTests() ?? '');
    cleanups.push(created.drop);
    const redis = await takeRedisDatabase(redisOfTheTests() ?? '');
    cleanups.push(redis.empty);
    database = await openDatabase(onPostgresql(created.url), { migrate: true });
    cleanups.push(database.close);
    const env = {
      ...PRODUCTION,
      HOST: '127.0.0.1',
      DATABASE_URL: created.url,
      REDIS_URL: redis.url,
      RATE_LIMITS: 'off',
      // However slow the machine is, nothing is too late; only a hang is.
      REQUEST_TIMEOUT_MS: '600000',
      JWT_REFRESH_RACE_WINDOW: '0',
    };
    for (let instance = 0; instance < 2; instance += 1) {
      const service = await runService(env);
      running.push(service);
      cleanups.push(() => service.stop('SIGKILL'));
    }
    holders = await Promise.all(Array.from({ length: USERS }, () => signUpAt(urlOf(0))));
  });
  afterAll(async () => {
    for (const clean of cleanups.toReversed()) await clean();
  });

  const urlOf = (index: number) => running[index % 2]?.url ?? expect.unreachable();
  const refreshAll = () => Promise.all(holders.map(({ refresh }, index) => refresh(urlOf(index))));
  const kinds = async (kind: string) =>
    (await database.em.execute('select id from events where kind = ?', [kind])).length;

  it('nobody is logged out, and no token that was rotated before works', async () => {
    await refreshAll();
    await database.em.execute('create table remembered as select * from sessions');
    const earlier = holders.map(({ cookies }) => cookies().at(-2) ?? '');
    for (let time = 0; time < 3; time += 1) await refreshAll();
    await database.em.execute('delete from sessions');
    await database.em.execute('insert into sessions select * from remembered');

    expect((await refreshAll()).map(({ status }) => status)).toEqual(holders.map(() => 200));
    expect(await kinds('session-recovered')).toBe(USERS);
    expect(await kinds('session-ended')).toBe(0);
    expect((await refreshAll()).map(({ status }) => status)).toEqual(holders.map(() => 200));
    expect(await kinds('session-recovered')).toBe(USERS);

    const [cookie = ''] = earlier;
    const replayed = await fetch(`${urlOf(0)}/auth/refresh-token`, { method: 'POST', headers: { Cookie: cookie } });
    expect(replayed.status).toBe(401);
    expect(await kinds('session-ended')).toBe(1);
  });
});
