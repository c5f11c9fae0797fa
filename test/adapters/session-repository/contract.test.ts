import { setTimeout } from 'node:timers/promises';
import type { SqlEntityManager } from '@mikro-orm/sql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../src/adapters/records/memory.ts';
import { mikroOrmSessionRepository } from '../../../src/adapters/session-repository/mikro-orm.ts';
import { recoveringSessionRepository } from '../../../src/adapters/session-repository/rotation-recovery.ts';
import { mikroOrmUserRepository } from '../../../src/adapters/user-repository/mikro-orm.ts';
import type { Database } from '../../../src/infrastructure/database/database.ts';
import { absent } from '../../contracts/hooks.ts';
import type { DelayedSessions, SessionStore } from '../../contracts/session-repository/store.ts';
import { describeSessionRepository } from '../../contracts/session-repository.contract.ts';
import { aRotation, aSession, aUser } from '../../support/builders.ts';
import { AMPLE_BUDGET } from '../../support/rotation/ample-budget.ts';
import {
  failingDatabase,
  openEmbedded,
  openOnPostgresql,
  type SharedDatabase,
  TEST_DATABASE_URL,
} from '../../support/storage/databases.ts';

const HOUR = 3_600_000;
/** Before the time of any database: only what has expired by its clock is purged. */
const PAST = Date.UTC(2020, 0, 1);
/** Connections that wait for a lock. */
const WAITING = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;

describeSessionRepository('recoveringSessionRepository', async (): Promise<SessionStore> => {
  const stores = memoryStorage();
  const users = [aUser(), aUser()] as const;
  for (const user of users) await stores.users.add(user);
  const repository = recoveringSessionRepository(stores.sessions, { answerBudget: 5_000 });
  return {
    repository,
    users,
    another: absent('one process has its sessions to itself'),
    failing: absent('memory does not fail'),
    delayed: absent('memory is never delayed'),
    clock: absent('memory has no clock of its own'),
    deleteUser: (id) => stores.users.remove(id),
    close: async () => repository.close(),
  };
});

/** Milliseconds: the budget of a rotation that is delayed. */
const SHORT_BUDGET = 200;
/** Waits until a budget of that length is over by the clock of a server, too. */
const untilOver = (): Promise<void> => setTimeout(2 * SHORT_BUDGET);

/** Sessions whose rows somebody else has locked: in an embedded database, that holds up every statement. */
const delayedByLock = (em: SqlEntityManager): DelayedSessions => {
  let released = Promise.withResolvers<void>();
  let locking: Promise<void> = Promise.resolve();
  return {
    repository: mikroOrmSessionRepository({ em }, { budget: SHORT_BUDGET }),
    hold: async () => {
      const locked = Promise.withResolvers<void>();
      released = Promise.withResolvers();
      locking = em.fork().transactional(async (transaction) => {
        await transaction.execute('select id from sessions for update');
        locked.resolve();
        await released.promise;
      });
      await locked.promise;
    },
    release: async () => {
      await untilOver();
      released.resolve();
      await locking;
    },
  };
};

/** The clock of PostgreSQL. */
const serverTime = async (em: SqlEntityManager): Promise<number> => {
  const [row] = await em.execute<{ now: string }[]>('select extract(epoch from clock_timestamp()) * 1000 as now');
  return Math.floor(Number(row?.now));
};

/** @param concurrent whether the database serves several connections at once. */
const onDatabase = (name: string, open: () => Promise<Database & Partial<SharedDatabase>>, concurrent: boolean) =>
  describe(name, () => {
    let database: Awaited<ReturnType<typeof open>>;
    beforeAll(async () => {
      database = await open();
    });
    afterAll(() => database?.close());

    const empty = async () => {
      await database.em.execute('delete from users');
      const users = [aUser(), aUser()] as const;
      for (const user of users) await mikroOrmUserRepository(database).add(user);
      const repository = mikroOrmSessionRepository(database, { budget: AMPLE_BUDGET });
      return { repository, users, owner: users[0].id };
    };

    describeSessionRepository('mikroOrmSessionRepository', async () => {
      const { em, openAnother } = database;
      const others: Database[] = [];
      const another = async () => {
        const other = (await openAnother?.()) ?? database;
        others.push(other);
        return mikroOrmSessionRepository(other);
      };
      return {
        ...(await empty()),
        another: openAnother === undefined ? absent('an embedded database serves one process') : another,
        failing: async () => mikroOrmSessionRepository(failingDatabase(em)),
        delayed: async () => delayedByLock(em),
        clock: () => serverTime(em),
        deleteUser: async (id) => void (await em.execute('delete from users where id = ?', [id])),
        close: async () => void (await Promise.all(others.map((other) => other.close()))),
      };
    });

    it('purges each session once when several instances purge at the same time', async () => {
      const { repository, owner } = await empty();
      for (let count = 0; count < 40; count += 1) {
        await repository.add(aSession({ userId: owner, expiresAt: PAST - count }));
      }
      const purged = await Promise.all(Array.from({ length: 10 }, () => repository.purge(PAST, 10)));
      const rest = await repository.purge(PAST, 100);
      expect(Math.max(...purged.map(({ length }) => length))).toBeLessThanOrEqual(10);
      expect(new Set([...purged.flat(), ...rest].map(({ id }) => id)).size).toBe(40);
      expect([...purged.flat(), ...rest]).toHaveLength(40);
    });

    it.runIf(concurrent)('purges nothing while another instance does', async () => {
      const { repository, owner } = await empty();
      for (const age of [0, 1]) await repository.add(aSession({ userId: owner, expiresAt: PAST - age }));
      const [purged, committing] = [Promise.withResolvers<number>(), Promise.withResolvers<void>()];
      const transaction = database.em.fork().transactional(async (em) => {
        purged.resolve((await mikroOrmSessionRepository({ em }).purge(PAST, 1)).length);
        await committing.promise;
      });
      expect([await purged.promise, await repository.purge(PAST, 10)]).toEqual([1, []]);
      committing.resolve();
      await transaction;
      expect(await repository.purge(PAST, 10)).toHaveLength(1);
    });

    it('purges no session that is live by the clock of the database, however far ahead the caller is', async () => {
      const { repository, owner } = await empty();
      const [expired, live] = [-1, 1].map((side) => aSession({ userId: owner, expiresAt: Date.now() + side * HOUR }));
      for (const session of [expired, live]) if (session !== undefined) await repository.add(session);
      expect(await repository.purge(Date.now() + 365 * 24 * HOUR, 10)).toHaveLength(1);
      expect((await repository.listByUser(owner, 0)).map(({ id }) => id)).toEqual([live?.id]);
    });

    it('does not rotate after the deadline by the clock of the database, and returns too-late', async () => {
      const { repository, owner } = await empty();
      const session = aSession({ userId: owner });
      await repository.add(session);
      const late = mikroOrmSessionRepository(database, { budget: 0 });
      expect(await late.rotate(aRotation(session))).toBe('too-late');
      expect(await repository.find(session)).toStrictEqual(session);
    });

    it('reverts a rotation that is still in progress', async () => {
      const { repository, owner } = await empty();
      const session = aSession({ userId: owner });
      await repository.add(session);
      const rotation = aRotation(session);
      const [rotated, committing] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const transaction = database.em.fork().transactional(async (em) => {
        await mikroOrmSessionRepository({ em }, { budget: AMPLE_BUDGET }).rotate(rotation);
        rotated.resolve();
        await committing.promise;
      });
      await rotated.promise;
      let reverted = false;
      const recovering = repository.revert(rotation).finally(() => {
        reverted = true;
      });
      const isWaiting = async () => (await database.em.execute(WAITING)).length > 0;
      while (concurrent && !reverted && !(await isWaiting()));
      committing.resolve();
      await Promise.all([transaction, recovering]);
      expect(await repository.find(session)).toMatchObject({ currentTokenId: session.currentTokenId });
    });

    it.runIf(concurrent)('does not perform a rotation that waits while it is reverted', async () => {
      const { repository, owner } = await empty();
      const session = aSession({ userId: owner });
      await repository.add(session);
      const rotation = aRotation(session);
      const [reverted, committing] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const transaction = database.em.fork().transactional(async (em) => {
        await mikroOrmSessionRepository({ em }).revert(rotation);
        reverted.resolve();
        await committing.promise;
      });
      await reverted.promise;
      const waiting = mikroOrmSessionRepository(database, { budget: AMPLE_BUDGET }).rotate(rotation);
      while ((await database.em.execute(WAITING)).length === 0);
      committing.resolve();
      expect(await waiting).toBe('stale');
      await transaction;
      expect(await repository.find(session)).toMatchObject({ currentTokenId: session.currentTokenId, rotation: 1 });
    });
  });

onDatabase('on PGlite', openEmbedded, false);
const server = TEST_DATABASE_URL;
if (server !== undefined) onDatabase('on PostgreSQL', () => openOnPostgresql(server), true);
