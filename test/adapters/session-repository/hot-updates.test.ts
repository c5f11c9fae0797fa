import type { SqlEntityManager } from '@mikro-orm/sql';
import { describe, expect, it, onTestFinished } from 'vitest';
import { mikroOrmSessionRepository } from '../../../src/adapters/session-repository/mikro-orm.ts';
import { mikroOrmUserRepository } from '../../../src/adapters/user-repository/mikro-orm.ts';
import type { Database } from '../../../src/infrastructure/database/database.ts';
import { aRotation, aSession, aUser, NOW } from '../../support/builders.ts';
import { AMPLE_BUDGET } from '../../support/rotation/ample-budget.ts';
import { openEmbedded, openOnPostgresql, TEST_DATABASE_URL } from '../../support/storage/databases.ts';

const DAY = 86_400_000;

/** Updates of sessions by the current transaction; those that are HOT wrote no index. */
const updatesOf = async (em: SqlEntityManager) => {
  const [counts] = await em.execute<{ all: string; hot: string }[]>(
    `select n_tup_upd as "all", n_tup_hot_upd as hot from pg_stat_xact_user_tables where relname = 'sessions'`,
  );
  return { all: Number(counts?.all), hot: Number(counts?.hot) };
};

const describeUpdates = (name: string, open: () => Promise<Database>) =>
  describe(`on ${name}`, () => {
    it('a refresh writes no index, however far it moves the expiry', async () => {
      const database = await open();
      onTestFinished(() => database.close());
      const user = aUser();
      await mikroOrmUserRepository(database).add(user);
      await database.em.fork().transactional(async (em) => {
        const sessions = mikroOrmSessionRepository({ em }, { budget: AMPLE_BUDGET });
        const session = aSession({ userId: user.id });
        await sessions.add(session);
        let current = { ...session };
        for (const days of [8, 9, 30]) {
          const rotation = aRotation(current, { expiresAt: NOW + days * DAY });
          expect(await sessions.rotate(rotation)).toHaveProperty('user');
          current = { ...current, currentTokenId: rotation.to, rotation: current.rotation + 1 };
        }
        expect(await updatesOf(em)).toEqual({ all: 3, hot: 3 });

        const earlier = aRotation(current, { expiresAt: NOW + DAY });
        expect(await sessions.rotate(earlier)).toHaveProperty('user');
        expect(await updatesOf(em)).toEqual({ all: 4, hot: 3 });
      });
    });
  });

describeUpdates('PGlite', openEmbedded);
const server = TEST_DATABASE_URL;
if (server !== undefined) describeUpdates('PostgreSQL', () => openOnPostgresql(server));
