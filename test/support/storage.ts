import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mikroOrmSessionRepository } from '../../src/adapters/session-repository/mikro-orm.ts';
import { mikroOrmUserRepository } from '../../src/adapters/user-repository/mikro-orm.ts';
import type { SessionRepository } from '../../src/application/ports/session-repository.ts';
import type { UserRepository } from '../../src/application/ports/user-repository.ts';
import { openDatabase } from '../../src/infrastructure/database.ts';

/** A directory of the test's own, and how to take it away. */
export const temporaryDirectory = (): { readonly path: string; readonly remove: () => void } => {
  const path = mkdtempSync(join(tmpdir(), 'tandem-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
};

export type TestStorage = {
  readonly users: UserRepository;
  readonly sessions: SessionRepository;
  readonly close: () => Promise<void>;
};

/** The repositories of a fresh embedded database, for a whole file of tests. */
export const openTestStorage = async (): Promise<TestStorage> => {
  const { path, remove } = temporaryDirectory();
  const { em, close } = await openDatabase({ kind: 'embedded', dataDir: path }, { migrate: true });
  return {
    users: mikroOrmUserRepository(em),
    sessions: mikroOrmSessionRepository(em),
    close: () => close().finally(remove),
  };
};
