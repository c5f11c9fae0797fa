import type { SqlEntityManager } from '@mikro-orm/sql';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { DatabaseAccess } from '../../../src/adapters/mikro-orm/queries.ts';
import { mikroOrmSessionRepository } from '../../../src/adapters/session-repository/mikro-orm.ts';
import { NotExecutedError } from '../../../src/adapters/session-repository/rotation-recovery.ts';
import { aRotation, aSession } from '../../support/builders.ts';
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

  it('may have happened when the connection was lost during the rotation', async () => {
    const { em, close } = await openEmbedded();
    onTestFinished(close);
    const repository = mikroOrmSessionRepository(lostAfter(em, 1));
    const failure = await repository.rotate(aRotation(aSession())).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'DB_QUERY_FAILED' });
    expect(failure).not.toBeInstanceOf(NotExecutedError);
  });
});
