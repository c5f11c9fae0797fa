import { mikroOrmSessionRepository } from '../../../src/adapters/session-repository/mikro-orm.ts';
import { mikroOrmUnitOfWork } from '../../../src/adapters/unit-of-work/mikro-orm.ts';
import type { Storage } from '../../../src/application/ports/unit-of-work.ts';
import type { Database } from '../../../src/infrastructure/database/database.ts';
import { sqlStores, transactions } from '../../../src/infrastructure/storages/sql.ts';
import { realPostgres } from '../parts.ts';
import { AMPLE_BUDGET } from '../rotation/ample-budget.ts';
import { openEmbedded, openOnPostgresql } from './databases.ts';
import { isOnExample, openExampleStorage } from './example.ts';

export type TestStorage = { readonly storage: Storage; readonly close: () => Promise<void> };

/** A new storage for a test file: embedded, on the PostgreSQL of the vitest project, or of the example. */
export const openTestStorage = async (): Promise<TestStorage> => {
  if (isOnExample()) return openExampleStorage();
  const server = realPostgres();
  const { em, close } = await (server === null ? openEmbedded() : openOnPostgresql(server));
  return { storage: storageOver(em, server === null ? 'embedded' : 'postgresql'), close };
};

export const storageOver = (em: Database['em'], kind: 'embedded' | 'postgresql'): Storage => ({
  ...sqlStores({ em }),
  sessions: mikroOrmSessionRepository({ em }, { budget: AMPLE_BUDGET }),
  unitOfWork: mikroOrmUnitOfWork(transactions(em, { kind }), sqlStores),
});
