import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { memoryStorage } from '../../src/adapters/records/memory.ts';
import { mikroOrmUnitOfWork } from '../../src/adapters/unit-of-work/mikro-orm.ts';
import { auditedUnitOfWork, watchedUnitOfWork } from '../../src/adapters/unit-of-work/wrappers.ts';
import type { UnitOfWork } from '../../src/application/ports/unit-of-work.ts';
import type { DatabaseOptions } from '../../src/infrastructure/config/stores.ts';
import { type Database, openDatabase } from '../../src/infrastructure/database/database.ts';
import { sqlStores, transactions } from '../../src/infrastructure/storages/sql.ts';
import { absent } from '../contracts/hooks.ts';
import type { UnitOfWorkStore } from '../contracts/unit-of-work/store.ts';
import { describeUnitOfWork } from '../contracts/unit-of-work.contract.ts';
import { anEvent, aSession, aUser, NOW } from '../support/builders.ts';
import { canStartPgbouncer, startPgbouncer } from '../support/servers/of-the-tests.ts';
import type { TestServer } from '../support/servers/server.ts';
import {
  createDatabase,
  failingDatabase,
  inTransaction,
  onPostgresql,
  openEmbedded,
  TEST_DATABASE_URL,
} from '../support/storage/databases.ts';

const WAITING = `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;

const inMemory = (): Pick<UnitOfWorkStore, 'unitOfWork' | 'stores' | 'interfere' | 'untilOneWaits'> => {
  const { unitOfWork, ...stores } = memoryStorage();
  const interfere: UnitOfWorkStore['interfere'] = async ({ id }) => {
    await stores.users.update(id, { emailVerifiedAt: NOW, now: NOW });
    return { over: Promise.resolve() };
  };
  return { unitOfWork, stores, interfere, untilOneWaits: setImmediate };
};

/** What the service puts around its unit of work. */
const WRAPPERS: Readonly<Record<string, (unitOfWork: UnitOfWork) => UnitOfWork>> = {
  auditedUnitOfWork: (unitOfWork) => auditedUnitOfWork(unitOfWork, () => undefined),
  watchedUnitOfWork: (unitOfWork) => watchedUnitOfWork(unitOfWork, () => undefined),
};
for (const [name, around] of Object.entries(WRAPPERS)) {
  describeUnitOfWork(name, async () => {
    const { unitOfWork, ...made } = inMemory();
    return { ...made, unitOfWork: around(unitOfWork), failing: absent('memory does not fail') };
  });
}

const untilOneWaitsIn = (database: Database) =>
  expect.poll(async () => (await database.em.execute(WAITING)).length).toBe(1);

/** Locks the second user, and then wants the first: a deadlock, of which the unit is the victim. */
const interfereIn =
  (database: Database): Exclude<UnitOfWorkStore['interfere'], { absent: string }> =>
  async (first, second) => {
    const locked = Promise.withResolvers<void>();
    const over = inTransaction(database, async (send) => {
      await send(`set local deadlock_timeout = '1h'`);
      await send('select id from users where id = $1 for update', [second.id]);
      locked.resolve();
      await send('update users set email_verified_at = $2 where id = $1', [first.id, NOW]);
    });
    await locked.promise;
    await untilOneWaitsIn(database);
    return { over };
  };

type Made = { readonly options: DatabaseOptions; readonly database: Database; readonly close: () => Promise<void> };

const unitsOver = ({
  options,
  database: { em },
}: Made): Pick<UnitOfWorkStore, 'unitOfWork' | 'stores' | 'failing'> => ({
  stores: sqlStores({ em }),
  unitOfWork: mikroOrmUnitOfWork(transactions(em, options), sqlStores),
  failing: async () => mikroOrmUnitOfWork((work) => work(failingDatabase(em)), sqlStores),
});

const onDatabase = (name: string, open: () => Promise<Made>) =>
  describe(name, () => {
    let made: Made;
    let another: Database | undefined;
    beforeAll(async () => {
      made = await open();
      if (made.options.kind === 'postgresql') another = await openDatabase(made.options, { migrate: false });
    });
    afterAll(async () => {
      await another?.close();
      await made?.close();
    });
    const empty = () => made.database.em.execute('with users_gone as (delete from users) delete from outbox');
    const hooks = (): Pick<UnitOfWorkStore, 'interfere' | 'untilOneWaits'> => {
      const observer = another;
      if (observer === undefined) {
        return { interfere: absent('one connection: transactions take turns'), untilOneWaits: setImmediate };
      }
      return { interfere: interfereIn(observer), untilOneWaits: () => untilOneWaitsIn(observer) };
    };

    describeUnitOfWork('mikroOrmUnitOfWork', async () => {
      await empty();
      return { ...unitsOver(made), ...hooks() };
    });

    it('is over when the work rejects, however many statements it has sent without waiting', async () => {
      await empty();
      const { unitOfWork, stores } = unitsOver(made);
      const user = aUser();
      await stores.users.add(user);
      const failing = unitOfWork.run(async ({ events }) => {
        for (let count = 0; count < 5; count += 1)
          void events.add([anEvent({ userId: user.id })]).catch(() => undefined);
        throw new Error('the work failed');
      });
      await expect(failing).rejects.toThrow('the work failed');
      expect(await stores.events.list({ userId: user.id, before: null, limit: 10 })).toEqual([]);
    });
  });

const embedded = async (): Promise<Made> => {
  const database = await openEmbedded();
  return { options: { kind: 'embedded', dataDir: '' }, database, close: database.close };
};
const postgresql = async (url: string, drop: () => Promise<unknown>): Promise<Made> => {
  const options = onPostgresql(url);
  const database = await openDatabase(options, { migrate: true });
  return {
    options,
    database,
    close: () =>
      database
        .close()
        .then(() => drop())
        .then(() => undefined),
  };
};

onDatabase('on PGlite', embedded);
const server = TEST_DATABASE_URL;
if (server !== undefined) {
  onDatabase('on PostgreSQL', async () => {
    const { url, drop } = await createDatabase(server);
    return postgresql(url, drop);
  });

  onDatabase('on a PostgreSQL that is serializable by default', async () => {
    const { url, drop } = await createDatabase(server);
    const admin = await openDatabase(onPostgresql(url), { migrate: false });
    await admin.em.execute(`do $$ begin execute format(
      'alter database %I set default_transaction_isolation = serializable', current_database()); end $$`);
    await admin.close();
    return postgresql(url, drop);
  });

  describe('on PostgreSQL', () => {
    const open = async () => {
      const { url, drop } = await createDatabase(server);
      const made = await postgresql(url, drop);
      onTestFinished(made.close);
      const admin = await openDatabase(made.options, { migrate: false });
      onTestFinished(admin.close);
      return { ...unitsOver(made), admin, made };
    };

    it.each(['in the middle', 'at its end'])('keeps nothing when the connection is lost %s', async (when) => {
      const { unitOfWork, stores, admin } = await open();
      const [user, session] = [aUser(), aSession()];
      const KILL = `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and state = 'idle in transaction'`;
      const lost = unitOfWork.run(async ({ users, sessions }) => {
        await users.add(user);
        await expect.poll(async () => (await admin.em.execute(KILL)).length).toBe(1);
        if (when === 'in the middle') await sessions.add({ ...session, userId: user.id });
      });
      await expect(lost).rejects.toMatchObject({ name: 'AppError', code: 'DB_QUERY_FAILED' });
      expect(await stores.users.findById(user.id)).toBeNull();
      await unitOfWork.run(({ users }) => users.add(user));
      expect(await stores.users.findById(user.id)).toStrictEqual(user);
    });

    it('runs although its statements were prepared for tables that have changed since', async () => {
      const { unitOfWork, stores, admin } = await open();
      const user = aUser();
      await stores.users.add(user);
      await Promise.all(Array.from({ length: 10 }, () => stores.users.findById(user.id)));
      await admin.em.execute('alter table users alter column username type varchar(64)');
      expect(await unitOfWork.run(({ users }) => users.findById(user.id))).toStrictEqual(user);
    });

    it('lets others read and write while a unit is open', async () => {
      const { unitOfWork, stores } = await open();
      const [user, other] = [aUser(), aUser()];
      await stores.users.add(other);
      const [reached, going] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const unit = unitOfWork.run(async ({ users }) => {
        await users.add(user);
        reached.resolve();
        await going.promise;
      });
      await reached.promise;
      expect(await stores.users.findById(user.id)).toBeNull();
      expect(await stores.users.update(other.id, { disabledAt: NOW, now: NOW })).not.toBeNull();
      going.resolve();
      await unit;
      expect(await stores.users.findById(user.id)).toStrictEqual(user);
    });
  });

  describe.runIf(canStartPgbouncer())('behind PgBouncer in transaction mode', () => {
    let pooler: TestServer;
    beforeAll(async () => {
      pooler = await startPgbouncer(server);
    });
    afterAll(() => pooler?.stop());
    onDatabase('with a pool of its own', async () => {
      const { url, drop } = await createDatabase(pooler.url);
      return postgresql(url, drop);
    });
  });
}
