import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { SessionRepository } from '../../../src/application/ports/session-repository.ts';
import { absent } from '../../contracts/hooks.ts';
import { inThread } from '../../contracts/in-thread.ts';
import type { SessionStore } from '../../contracts/session-repository/store.ts';
import { aUser } from '../../support/builders.ts';
import { temporaryDirectory } from '../../support/storage/temporary-directory.ts';
import { open, openFile, type SqliteFault, type SqliteOptions } from './sqlite.ts';

/** Milliseconds. */
const SHORT_BUDGET = 50;
const PATIENCE = 30_000;
const ADAPTER = new URL('./sqlite.ts', import.meta.url);

/** A file of SQLite with all hooks: what has to run at the same time runs in another thread. */
export const onSqlite = (fault: SqliteFault) => async (): Promise<SessionStore> => {
  const directory = temporaryDirectory();
  const users = [aUser(), aUser()] as const;
  const options: SqliteOptions = {
    users,
    path: join(directory.path, 'sessions.db'),
    fault,
    budget: 60_000,
    patience: PATIENCE,
  };
  const closing: (() => unknown)[] = [];
  const threads: (() => Promise<void>)[] = [];
  const inAnotherThread = async (given: Partial<SqliteOptions>): Promise<SessionRepository> => {
    const { port, begun, close } = await inThread<SessionRepository>(ADAPTER, { ...options, ...given });
    threads.push(begun);
    closing.push(close);
    return port;
  };
  const admin = openFile(options);
  closing.push(() => admin.close());
  for (const { id } of users) admin.prepare('insert into users values (?)').run(id);

  return {
    repository: open(options),
    users,
    another: () => inAnotherThread({}),
    failing: async () => {
      const locked = { ...options, path: join(directory.path, 'locked.db'), patience: 0 };
      const repository = open(locked);
      const locking = openFile(locked);
      locking.exec('begin immediate');
      closing.push(() => locking.close());
      return repository;
    },
    clock: absent('it takes the clock of the caller'),
    delayed: async () => ({
      repository: await inAnotherThread({ budget: SHORT_BUDGET }),
      hold: async () => admin.exec('begin immediate'),
      release: async () => {
        await Promise.all(threads.map((begun) => begun()));
        await setTimeout(2 * SHORT_BUDGET);
        admin.exec('commit');
      },
    }),
    deleteUser: async (id) => void admin.prepare('delete from users where id = ?').run(id),
    close: async () => {
      for (const close of closing) await close();
      directory.remove();
    },
  };
};
