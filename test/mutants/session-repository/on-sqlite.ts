import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { SessionRepository } from '../../../src/application/ports/session-repository.ts';
import { inThread } from '../../contracts/in-thread.ts';
import type { SessionStore } from '../../contracts/session-repository/store.ts';
import { anId } from '../../support/builders.ts';
import { temporaryDirectory } from '../../support/storage/temporary-directory.ts';
import { open, openFile, type SqliteFault, type SqliteOptions } from './sqlite.ts';

/** Milliseconds. */
const SHORT_BUDGET = 50;
const PATIENCE = 30_000;
const ADAPTER = new URL('./sqlite.ts', import.meta.url);

/** Resolves when the counter has changed. */
const untilChanged = async (counter: Int32Array, from: number): Promise<void> => {
  await Atomics.waitAsync(counter, 0, from).value;
};

/** A file of SQLite with all hooks: what has to run at the same time runs in another thread. */
export const onSqlite = (fault: SqliteFault) => async (): Promise<SessionStore> => {
  const directory = temporaryDirectory();
  const counter = (): Int32Array => new Int32Array(new SharedArrayBuffer(4));
  const options: SqliteOptions = {
    path: join(directory.path, 'sessions.db'),
    fault,
    budget: 60_000,
    patience: PATIENCE,
    begun: counter(),
  };
  const closing: (() => unknown)[] = [];
  const inAnotherThread = async (given: Partial<SqliteOptions>): Promise<SessionRepository> => {
    const { port, close } = await inThread<SessionRepository>(ADAPTER, { ...options, ...given });
    closing.push(close);
    return port;
  };
  const admin = openFile(options);
  closing.push(() => admin.close());
  const owners = [anId(), anId()] as const;
  for (const owner of owners) admin.prepare('insert into users values (?)').run(owner);

  return {
    repository: open(options),
    owners,
    another: () => inAnotherThread({}),
    failing: async () => {
      const locked = { ...options, path: join(directory.path, 'locked.db'), patience: 0 };
      const repository = open(locked);
      const locking = openFile(locked);
      locking.exec('begin immediate');
      closing.push(() => locking.close());
      return repository;
    },
    delayed: async () => {
      const begun = counter();
      const repository = await inAnotherThread({ begun, budget: SHORT_BUDGET });
      let before = 0;
      return {
        repository,
        hold: async () => {
          before = Atomics.load(begun, 0);
          admin.exec('begin immediate');
        },
        release: async () => {
          await untilChanged(begun, before);
          await setTimeout(2 * SHORT_BUDGET);
          admin.exec('commit');
        },
      };
    },
    deleteUser: async (id) => void admin.prepare('delete from users where id = ?').run(id),
    close: async () => {
      for (const close of closing) await close();
      directory.remove();
    },
  };
};
