import { mikroOrmSessionRepository } from '../../../src/adapters/session-repository/mikro-orm.ts';
import { mikroOrmUserRepository } from '../../../src/adapters/user-repository/mikro-orm.ts';
import type { SessionRepository } from '../../../src/application/ports/session-repository.ts';
import type { UserRepository } from '../../../src/application/ports/user-repository.ts';
import { realPostgres } from '../parts.ts';
import { AMPLE_BUDGET } from '../rotation/ample-budget.ts';
import { openEmbedded, openOnPostgresql } from './databases.ts';
import { isOnExample, openExampleStorage } from './example.ts';

export type TestStorage = {
  readonly users: UserRepository;
  readonly sessions: SessionRepository;
  readonly close: () => Promise<void>;
};

/** The repositories of a new database for a test file: embedded, on the PostgreSQL of the vitest project, or of the example. */
export const openTestStorage = async (): Promise<TestStorage> => {
  if (isOnExample()) return openExampleStorage();
  const server = realPostgres();
  const { em, close } = await (server === null ? openEmbedded() : openOnPostgresql(server));
  return {
    users: mikroOrmUserRepository(em),
    sessions: mikroOrmSessionRepository(em, { budget: AMPLE_BUDGET }),
    close,
  };
};
