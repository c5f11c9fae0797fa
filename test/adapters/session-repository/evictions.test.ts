import { expect, it, onTestFinished } from 'vitest';
import { mikroOrmSessionRepository } from '../../../src/adapters/session-repository/mikro-orm.ts';
import { mikroOrmUserRepository } from '../../../src/adapters/user-repository/mikro-orm.ts';
import { SESSIONS_PER_USER } from '../../../src/domain/session.ts';
import { aSession, aUser, NOW } from '../../support/builders.ts';
import { inTransaction, openOnPostgresql, TEST_DATABASE_URL } from '../../support/storage/databases.ts';

it.runIf(TEST_DATABASE_URL !== undefined)(
  'a session that is in use is not waited for, and is ended later',
  async () => {
    const database = await openOnPostgresql(TEST_DATABASE_URL ?? '');
    onTestFinished(database.close);
    const user = aUser();
    await mikroOrmUserRepository(database).add(user);
    const sessions = mikroOrmSessionRepository(database);
    const all = Array.from({ length: SESSIONS_PER_USER }, (_none, index) =>
      aSession({ userId: user.id, rotatedAt: NOW - SESSIONS_PER_USER + index }),
    );
    for (const session of all) await sessions.add(session);
    const [oldest, next] = all.map(({ id }) => id);
    const ended = await inTransaction(database, async (send) => {
      await send('select id from sessions where id = $1 for update', [oldest]);
      // Would wait for the end of this transaction.
      return sessions.add(aSession({ userId: user.id, rotatedAt: NOW }));
    });
    expect(ended).toEqual([]);
    const endedLater = await sessions.add(aSession({ userId: user.id, rotatedAt: NOW }));
    expect(endedLater.toSorted()).toEqual([oldest, next].toSorted());
  },
);
