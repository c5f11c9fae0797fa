import { join } from 'node:path';
import { inject } from 'vitest';
import { openDatabase } from '../../../examples/sqlite-storage/database.ts';
import { sqliteSessionRepository } from '../../../examples/sqlite-storage/session-repository.ts';
import { sqliteUserRepository } from '../../../examples/sqlite-storage/user-repository.ts';
import '../servers/provided.ts';
import { temporaryDirectory } from './temporary-directory.ts';

/** Whether this project's services are on the repositories of `examples/sqlite-storage`. */
export const isOnExample = (): boolean => inject('parts') === 'example';

/** The repositories of the example, over a file of the test's own. */
export const openExampleStorage = () => {
  const { path, remove } = temporaryDirectory();
  const database = openDatabase(join(path, 'tandem.sqlite'));
  return {
    users: sqliteUserRepository(database),
    sessions: sqliteSessionRepository(database),
    close: async () => {
      database.close();
      remove();
    },
  };
};
