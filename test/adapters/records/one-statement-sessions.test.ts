import { CompiledQuery } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { POSTGRESQL } from '../../../src/adapters/mikro-orm/dialects.ts';
import { postgresqlSessions } from '../../../src/adapters/mikro-orm/one-statement-sessions.ts';
import { mikroOrmRecords } from '../../../src/adapters/mikro-orm/records.ts';
import type { Sql } from '../../../src/adapters/mikro-orm/statements.ts';
import { connectionOver } from '../../../src/adapters/mikro-orm/statements.ts';
import { sessionRepositoryOver } from '../../../src/adapters/records/sessions.ts';
import { storageOver } from '../../../src/adapters/records/storage.ts';
import { userRepositoryOver } from '../../../src/adapters/records/users.ts';
import type { SessionRepository } from '../../../src/application/ports/session-repository.ts';
import { absent } from '../../contracts/hooks.ts';
import type { HeldStore } from '../../contracts/storage/given.ts';
import { describeSessionRepository } from '../../contracts/storage.contract.ts';
import { aPasskey, aRotation, aSession, aUser, NOW } from '../../support/builders.ts';
import { failing, QUOTING, recording } from '../../support/records/statements.ts';
import { inTransaction, TEST_DATABASE_URL, twoOnPostgresql, waitingIn } from '../../support/storage/databases.ts';

const DAY = 86_400_000;
const PREFIX = 'of_auth_';
/** Updates of sessions that this connection has not reported yet; those that are HOT wrote no index. */
const UPDATES = `select n_tup_upd as "all", n_tup_hot_upd as hot from pg_stat_xact_user_tables where relname = '${PREFIX}sessions'`;

const sessionsOver = (db: Sql): SessionRepository => {
  const plain = sessionRepositoryOver(mikroOrmRecords(db, POSTGRESQL, PREFIX));
  return { ...plain, ...postgresqlSessions(connectionOver(db), plain, PREFIX) };
};

describe.runIf(TEST_DATABASE_URL !== undefined)('sessions in single statements of PostgreSQL', () => {
  const [database, other] = twoOnPostgresql(PREFIX);
  const [owner, stranger] = [aUser(), aUser()];
  const kysely = (): Sql => database().em.getKysely();
  const sessions = () => sessionsOver(kysely());
  const empty = async () => {
    const { em, records } = database();
    await em.execute(`delete from ${PREFIX}users`);
    for (const user of [owner, stranger]) await userRepositoryOver(records).add(user);
  };
  const stored = async (repository = sessions()) => {
    const session = aSession({ userId: owner.id });
    await repository.add(session);
    return session;
  };
  const send = (text: string) => other().em.execute(text);

  const untilWaiting = (count: number) => expect.poll(() => waitingIn(other())).toBe(count);
  /** Somebody has locked all sessions, and lets them go when two wait for them. */
  const heldByLocks = (): HeldStore => {
    let [released, over] = [Promise.withResolvers<void>(), Promise.resolve()];
    return {
      hold: async () => {
        const locked = Promise.withResolvers<void>();
        released = Promise.withResolvers();
        over = inTransaction(other(), async (within) => {
          await within(`select id from ${PREFIX}sessions for update`);
          locked.resolve();
          await released.promise;
        });
        await locked.promise;
      },
      release: async () => {
        await untilWaiting(2);
        released.resolve();
        await over;
      },
    };
  };

  describeSessionRepository('postgresqlSessions', async () => {
    await empty();
    const over = (of: Sql) => ({ ...storageOver(mikroOrmRecords(of, POSTGRESQL, PREFIX)), sessions: sessionsOver(of) });
    return {
      storage: over(kysely()),
      another: async () => over(other().em.getKysely()),
      failing: async () => over(failing(kysely(), QUOTING.postgresql)),
      held: async () => heldByLocks(),
      interfere: absent('only the sessions are tested'),
      untilOneWaits: () => untilWaiting(1),
    };
  });

  describe('of one user', () => {
    beforeEach(empty);

    it('a refresh and a check of a session are one statement each', async () => {
      const session = await stored();
      const { db, sent } = recording(kysely());
      const repository = sessionsOver(db);
      expect(await repository.rotate(aRotation(session))).toHaveProperty('user.id', owner.id);
      expect(sent).toHaveLength(1);
      await database().records.insert('passkeys', aPasskey({ userId: owner.id }));
      const found = await repository.findWithUser(session);
      expect(found).toMatchObject({ user: { id: owner.id }, session: { amr: session.amr }, passkeys: 1 });
      expect(sent).toHaveLength(2);
    });

    it('a refresh writes no index, however far it moves the expiry', async () => {
      await kysely()
        .transaction()
        .execute(async (transaction) => {
          const repository = sessionsOver(transaction);
          const counts = async () => {
            const { rows } = await transaction.executeQuery<{ all: string; hot: string }>(CompiledQuery.raw(UPDATES));
            return [Number(rows[0]?.all), Number(rows[0]?.hot)] as const;
          };
          let current = await stored(repository);
          const before = await counts();
          const updates = async () => (await counts()).map((count, at) => count - (before[at] ?? 0));
          const rotateTo = async (expiresAt: number) => {
            const rotation = aRotation(current, { expiresAt });
            expect(await repository.rotate(rotation)).toHaveProperty('user');
            current = { ...current, currentTokenId: rotation.to, rotation: current.rotation + 1 };
          };
          for (const days of [8, 9, 30]) await rotateTo(NOW + days * DAY);
          expect(await updates()).toEqual([3, 3]);
          await rotateTo(NOW + DAY);
          expect(await updates()).toEqual([4, 3]);
        });
    });

    it('the pages of sessions keep room for new versions of their rows', async () => {
      const [table] = await send(`select reloptions from pg_class where relname = '${PREFIX}sessions'`);
      expect(table).toEqual({ reloptions: ['fillfactor=85'] });
    });

    it('a rotation that waits while it is reverted does not happen', async () => {
      const session = await stored();
      const rotation = aRotation(session);
      const [reverted, committing] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const unit = other().records.unit(async (inside) => {
        await sessionRepositoryOver(inside).revert(rotation);
        reverted.resolve();
        await committing.promise;
      });
      await reverted.promise;
      const waiting = sessions().rotate(rotation);
      await untilWaiting(1);
      committing.resolve();
      await unit;
      expect(await waiting).toBe('stale');
      expect(await sessions().find(session)).toMatchObject({ currentTokenId: session.currentTokenId, rotation: 1 });
    });
  });
});
