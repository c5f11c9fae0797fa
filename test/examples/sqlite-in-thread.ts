import { openDatabase } from '../../examples/sqlite-storage/database.ts';
import { sqliteSessionRepository } from '../../examples/sqlite-storage/session-repository.ts';
import { sqliteUserRepository } from '../../examples/sqlite-storage/user-repository.ts';

export type ThreadStore = { readonly path: string; readonly port: 'users' | 'sessions'; readonly budget?: number };

/** Opens a repository of the example over the file, for `inThread`. */
export const open = ({ path, port, budget }: ThreadStore) => {
  const database = openDatabase(path);
  return port === 'users' ? sqliteUserRepository(database) : sqliteSessionRepository(database, { budget });
};
