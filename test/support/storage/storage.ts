import { mikroOrmSessionRepository } from '../../../src/adapters/session-repository/mikro-orm.ts';
import { mikroOrmUnitOfWork } from '../../../src/adapters/unit-of-work/mikro-orm.ts';
import type { Stores, UnitOfWork } from '../../../src/application/ports/unit-of-work.ts';
import { transactions } from '../../../src/infrastructure/database/transact.ts';
import { sqlStores } from '../../../src/infrastructure/storages/sql.ts';
import { realPostgres } from '../parts.ts';
import { AMPLE_BUDGET } from '../rotation/ample-budget.ts';
import { openEmbedded, openOnPostgresql } from './databases.ts';
import { isOnExample, openExampleStorage } from './example.ts';

export type TestStorage = {
  readonly users: Stores['users'];
  readonly sessions: Stores['sessions'];
  /** What is changed together with them. The example has none. */
  readonly records: (Omit<Stores, 'users' | 'sessions'> & { readonly unitOfWork: UnitOfWork }) | null;
  readonly close: () => Promise<void>;
};

/** The repositories of a new database for a test file: embedded, on the PostgreSQL of the vitest project, or of the example. */
export const openTestStorage = async (): Promise<TestStorage> => {
  if (isOnExample()) return { ...openExampleStorage(), records: null };
  const server = realPostgres();
  const { em, close } = await (server === null ? openEmbedded() : openOnPostgresql(server));
  const { users, sessions: _, ...records } = sqlStores(em);
  const kind = server === null ? 'embedded' : 'postgresql';
  return {
    users,
    sessions: mikroOrmSessionRepository(em, { budget: AMPLE_BUDGET }),
    records: { ...records, unitOfWork: mikroOrmUnitOfWork(transactions(em, { kind }), sqlStores) },
    close,
  };
};
