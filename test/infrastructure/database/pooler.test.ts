import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { MIGRATION_NAMES } from '../../../src/adapters/mikro-orm/migrations/migrations.ts';
import { mikroOrmSessionRepository } from '../../../src/adapters/session-repository/mikro-orm.ts';
import { mikroOrmUserRepository } from '../../../src/adapters/user-repository/mikro-orm.ts';
import { type Database, openDatabase } from '../../../src/infrastructure/database/database.ts';
import { absent } from '../../contracts/hooks.ts';
import { describeSessionRepository } from '../../contracts/session-repository.contract.ts';
import { describeUserRepository } from '../../contracts/user-repository.contract.ts';
import { aUser } from '../../support/builders.ts';
import { AMPLE_BUDGET } from '../../support/rotation/ample-budget.ts';
import { canStartPgbouncer, startPgbouncer } from '../../support/servers/of-the-tests.ts';
import { ALIAS } from '../../support/servers/pgbouncer.ts';
import type { TestServer } from '../../support/servers/server.ts';
import {
  failingDatabase,
  onPostgresql,
  openOnPostgresql,
  type SharedDatabase,
  TEST_DATABASE_URL,
} from '../../support/storage/databases.ts';
import { behindPgbouncer } from '../../support/storage/routes.ts';

/** PgBouncer gives each client its own values of these. */
const UNTRACKED = `name not in ('application_name', 'client_encoding', 'DateStyle', 'TimeZone', 'standard_conforming_strings')`;

describe.runIf(canStartPgbouncer())('behind PgBouncer in transaction mode', () => {
  // With one server connection, a migration that needed a second one would wait for itself.
  it.each(['1', '5'])('instances that start together migrate once, over %s server connections', async (size) => {
    const { url } = await behindPgbouncer({ default_pool_size: size });
    const open = () => openDatabase({ ...onPostgresql(url), connectionTimeout: 20_000 }, { migrate: true });
    const instances = await Promise.all([open(), open()]);
    onTestFinished(() => Promise.all(instances.map(({ close }) => close())).then(() => undefined));
    for (const { em } of instances) {
      const applied = await em.execute('select name from mikro_orm_migrations');
      expect(applied).toEqual(MIGRATION_NAMES.map((name) => ({ name })));
    }
  });

  it('leaves no setting and no lock in the sessions that it shares with others', async () => {
    const { url } = await behindPgbouncer({ default_pool_size: '1' });
    const others = await openDatabase(onPostgresql(url), { migrate: false });
    const [before, locks] = [
      `select name, setting from pg_settings where source = 'session' and ${UNTRACKED}`,
      'select 1 from pg_locks',
    ];
    const atFirst = await others.em.execute(before);
    const service = await openDatabase(onPostgresql(url), { migrate: true });
    onTestFinished(() => Promise.all([others.close(), service.close()]).then(() => undefined));
    await mikroOrmSessionRepository(service).purge(Date.now(), 10);
    expect(await others.em.execute(before)).toEqual(atFirst);
    expect(await others.em.execute(`${locks} where locktype = 'advisory' and pid = pg_backend_pid()`)).toEqual([]);
  });

  it('migrates a database that has another name in PgBouncer, and creates none of that name', async () => {
    const { direct, url } = await behindPgbouncer();
    const aliased = Object.assign(new URL(url), { pathname: `/${ALIAS}` }).href;
    const database = await openDatabase(onPostgresql(aliased), { migrate: true });
    const server = await openDatabase(onPostgresql(direct), { migrate: false });
    onTestFinished(() => Promise.all([database.close(), server.close()]).then(() => undefined));
    expect(await server.em.execute('select count(*)::int as users from users')).toEqual([{ users: 0 }]);
    expect(await server.em.execute('select 1 from pg_database where datname = ?', [ALIAS])).toEqual([]);
  });

  it('names the startup parameter of DATABASE_URL that PgBouncer refuses', async () => {
    const { url } = await behindPgbouncer();
    const open = openDatabase(onPostgresql(`${url}?options=-c%20geqo%3Doff`), { migrate: false });
    await expect(open).rejects.toThrow(
      'The database of DATABASE_URL cannot be opened: the pooler refuses the startup parameter options; ' +
        'remove it from DATABASE_URL or from the PG* variables',
    );
  });

  describe('the repositories', () => {
    let pooler: TestServer;
    let database: SharedDatabase;
    beforeAll(async () => {
      pooler = await startPgbouncer(TEST_DATABASE_URL ?? '');
      database = await openOnPostgresql(pooler.url);
    });
    afterAll(async () => {
      await database?.close();
      await pooler?.stop();
    });
    beforeEach(async () => void (await database.em.execute('delete from users')));

    const others: Database[] = [];
    const openAnother = async () => {
      const another = await database.openAnother();
      others.push(another);
      return another;
    };
    const close = async () => {
      await Promise.all(others.splice(0).map((other) => other.close()));
    };

    describeUserRepository('mikroOrmUserRepository', async () => ({
      repository: mikroOrmUserRepository(database),
      another: async () => mikroOrmUserRepository(await openAnother()),
      failing: async () => mikroOrmUserRepository(failingDatabase(database.em)),
      close,
    }));
    describeSessionRepository('mikroOrmSessionRepository', async () => {
      const users = [aUser(), aUser()] as const;
      for (const user of users) await mikroOrmUserRepository(database).add(user);
      return {
        repository: mikroOrmSessionRepository(database, { budget: AMPLE_BUDGET }),
        users,
        another: async () => mikroOrmSessionRepository(await openAnother(), { budget: AMPLE_BUDGET }),
        failing: async () => mikroOrmSessionRepository(failingDatabase(database.em)),
        delayed: absent('a locked row behind a pooler: test/faults/locked-row.test.ts'),
        clock: absent('the clock of PostgreSQL: test/adapters/session-repository/contract.test.ts'),
        deleteUser: async (id) => void (await database.em.execute('delete from users where id = ?', [id])),
        close,
      };
    });
  });
});
