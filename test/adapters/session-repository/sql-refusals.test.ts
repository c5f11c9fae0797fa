import type { SqlEntityManager } from '@mikro-orm/sql';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { DatabaseAccess } from '../../../src/adapters/mikro-orm/queries.ts';
import { NotExecutedError } from '../../../src/adapters/resilience/not-executed.ts';
import { serverClock } from '../../../src/adapters/resilience/server-clock.ts';
import { mikroOrmSessionRepository } from '../../../src/adapters/session-repository/mikro-orm.ts';
import { sqlStores } from '../../../src/infrastructure/storages/sql.ts';
import { aRotation, aSession, aUser } from '../../support/builders.ts';
import { openEmbedded } from '../../support/storage/databases.ts';

/** A database that answers so many statements, and then has no connection. */
const lostAfter = (em: SqlEntityManager, statements: number): DatabaseAccess => {
  let sent = 0;
  return {
    get em() {
      if (sent >= statements) throw new Error('Connection terminated');
      sent += 1;
      return em;
    },
  };
};

describe('a rotation that was not sent to the database, or found nothing to rotate', () => {
  it.each([
    ['the time of the database could not be read before', 0],
    ['the time of the database could not be read after', 2],
  ])('has certainly not happened: %s', async (_which, statements) => {
    const { em, close } = await openEmbedded();
    onTestFinished(close);
    const repository = mikroOrmSessionRepository(lostAfter(em, statements));
    const refusal = await repository.rotate(aRotation(aSession())).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(NotExecutedError);
    expect(refusal).toMatchObject({ code: 'DB_QUERY_FAILED', reason: 'Error (Connection terminated)' });
  });

  it('has not happened when the clock that its time is of was behind: who races with it would count as a thief', async () => {
    const { em, close } = await openEmbedded();
    onTestFinished(close);
    const { users, sessions } = sqlStores({ em });
    let behind = 3_600_000;
    const clock = serverClock(async () => Date.now() - behind);
    await clock.read();
    const repository = mikroOrmSessionRepository({ em }, { clock });
    const session = aSession({ expiresAt: Date.now() + 60_000 });
    await users.add(aUser({ id: session.userId }));
    await sessions.add(session);
    const rotate = () => repository.rotate(aRotation(session, { at: clock.now() }));

    behind = 0;
    expect(await rotate()).toBe('too-late');
    // The first one is late by its deadline, and the next one because of what the clock was before it was read.
    expect(await rotate()).toBe('too-late');
    expect(await rotate()).toHaveProperty('user');
    const rotated = await sessions.find(session);
    expect(Date.now() - (rotated?.rotatedAt ?? 0)).toBeLessThan(60_000);
  });

  it('may have happened when the connection was lost during the rotation', async () => {
    const { em, close } = await openEmbedded();
    onTestFinished(close);
    const repository = mikroOrmSessionRepository(lostAfter(em, 1));
    const failure = await repository.rotate(aRotation(aSession())).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'DB_QUERY_FAILED' });
    expect(failure).not.toBeInstanceOf(NotExecutedError);
  });
});
