import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate, setTimeout } from 'node:timers/promises';
import type { Stores } from 'tandem';
import {
  absent,
  describeRecords,
  describeSessionRepository,
  describeUnitOfWork,
  describeUserRepository,
  inThread,
} from 'tandem/contracts';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../../examples/sqlite-storage/database.ts';
import { openSqliteStorage } from '../../examples/sqlite-storage/storage.ts';
import { aUser } from '../support/builders.ts';
import { heldFrom } from '../support/http/auth-http.ts';
import { aPerson } from '../support/http/service.ts';
import { type ExampleProcess, startExample } from '../support/processes/example.ts';
import { temporaryDirectory } from '../support/storage/temporary-directory.ts';
import { tally } from '../support/tally.ts';
import type { ThreadStore } from './sqlite-in-thread.ts';

const IN_THREAD = new URL('./sqlite-in-thread.ts', import.meta.url);
/** Milliseconds: the budget of a rotation that is delayed. */
const SHORT_BUDGET = 200;

/** A storage of the test's own in a file with two users, and whatever else is opened over it. */
const openFile = async () => {
  const directory = temporaryDirectory();
  const path = join(directory.path, 'tandem.sqlite');
  const opened = openSqliteStorage(path);
  const admin = openDatabase(path);
  const users = [aUser(), aUser()] as const;
  for (const user of users) await opened.storage.users.add(user);
  const closing: (() => unknown)[] = [directory.remove, opened.close, () => admin.close()];
  const threads: (() => Promise<void>)[] = [];
  const inAnother = async <Port extends keyof Stores>(port: Port, given: Omit<ThreadStore, 'path' | 'port'> = {}) => {
    const thread = await inThread<Stores[Port]>(IN_THREAD, { ...given, port, path } satisfies ThreadStore);
    threads.push(thread.begun);
    closing.push(thread.close);
    return thread.port;
  };
  return {
    ...{ storage: opened.storage, admin, users, inAnother },
    /** Until the calls in all threads have begun: their budgets are counted from then on. */
    begun: () => Promise.all(threads.map((callsOf) => callsOf())),
    /** A storage whose file was closed: every statement fails. */
    closed: () => {
      const { storage, close } = openSqliteStorage(path);
      close();
      return storage;
    },
    deleteUser: async (id: string) => void admin.prepare('delete from users where id = ?').run(id),
    close: async () => {
      for (const each of closing.toReversed()) await each();
    },
  };
};

describeUserRepository('sqliteUserRepository', async () => {
  const { storage, inAnother, closed, close } = await openFile();
  return {
    repository: storage.users,
    another: () => inAnother('users'),
    failing: async () => closed().users,
    close,
  };
});

describeSessionRepository('sqliteSessionRepository', async () => {
  const { storage, admin, begun, inAnother, closed, ...file } = await openFile();
  return {
    ...file,
    repository: storage.sessions,
    another: () => inAnother('sessions'),
    failing: async () => closed().sessions,
    clock: async () => Date.now(),
    delayed: async () => ({
      repository: await inAnother('sessions', { budget: SHORT_BUDGET }),
      hold: async () => admin.exec('begin immediate'),
      release: async () => {
        await begun();
        await setTimeout(2 * SHORT_BUDGET);
        admin.exec('commit');
      },
    }),
  };
});

describeRecords('in SQLite', async (name) => {
  const { storage, users, inAnother, closed, deleteUser, close } = await openFile();
  return {
    repository: storage[name],
    owners: [users[0].id, users[1].id],
    another: () => inAnother(name),
    failing: async () => closed()[name],
    deleteUser,
    close,
  };
});

describeUnitOfWork('the unit of work', async () => {
  const { storage, closed, close } = await openFile();
  const { unitOfWork, ...stores } = storage;
  return {
    unitOfWork,
    stores,
    interfere: absent('units run one after the other'),
    untilOneWaits: () => setImmediate(),
    failing: async () => closed().unitOfWork,
    close,
  };
});

describe('a file of SQLite that another process has locked', () => {
  it('fails a write within a bounded time, with a retryable error that names the reason', async () => {
    const { admin, inAnother, close } = await openFile();
    onTestFinished(close);
    const users = await inAnother('users');
    admin.exec('begin immediate');
    await expect(users.add(aUser())).rejects.toMatchObject({
      code: 'DB_QUERY_FAILED',
      reason: 'SQLite 5 (database is locked)',
    });
    admin.exec('rollback');
    await users.add(aUser());
  });
});

describe('two processes of the example on one file', () => {
  const directory = temporaryDirectory();
  const processes: ExampleProcess[] = [];
  const at = (number: number): ExampleProcess => processes[number % 2] ?? expect.unreachable();
  beforeAll(async () => {
    const env = { SQLITE_FILE: join(directory.path, 'tandem.sqlite'), DATA_DIR: join(directory.path, 'data') };
    // Whichever comes up has to be known before the other one's failure ends this.
    const starts = await Promise.allSettled([startExample(env), startExample(env)]);
    for (const start of starts) if (start.status === 'fulfilled') processes.push(start.value);
    for (const start of starts) if (start.status === 'rejected') throw start.reason;
  });
  afterAll(async () => {
    await Promise.all(processes.map(({ stop }) => stop('SIGKILL')));
    directory.remove();
  });

  const register = (number: number, person: object) => at(number).http.post('/auth/register').send(person);
  const refresh = (number: number, cookie: string) => at(number).http.post('/auth/refresh-token').set('Cookie', cookie);

  it('are ready, with a private file and without a database of the service', async () => {
    for (const number of [0, 1]) {
      const { body } = await at(number).http.get('/health/ready').expect(200);
      expect(body.data).toEqual({ status: 'ready', checks: { sqlite: 'up' } });
    }
    expect(statSync(join(directory.path, 'tandem.sqlite')).mode & 0o077).toBe(0);
    expect(existsSync(join(directory.path, 'data', 'database'))).toBe(false);
  });

  it('share users and sessions', async () => {
    const person = aPerson();
    const registered = heldFrom(await register(0, person).expect(201));
    const login = { account: person.email, password: person.password };
    await at(1).http.post('/auth/login').send(login).expect(200);
    await at(1).http.get('/users/me').set('Authorization', `Bearer ${registered.accessToken}`).expect(200);
    const next = heldFrom(await refresh(1, registered.cookie).expect(200));
    await refresh(0, registered.cookie).expect(401);
    await refresh(0, next.cookie).expect(200);
    await register(1, person).expect(409);
  });

  it('have one winner of 40 refreshes with one token, and its session lives', async () => {
    const { cookie } = heldFrom(await register(0, aPerson()).expect(201));
    const responses = await Promise.all(Array.from({ length: 40 }, (_none, number) => refresh(number, cookie)));
    expect(tally(responses)).toEqual({ '200': 1, '401 AUTH_FAILED': 39 });
    const winner = responses.find(({ status }) => status === 200) ?? expect.unreachable();
    await refresh(1, heldFrom(winner).cookie).expect(200);
  });

  it('end when they are signalled', async () => {
    const env = { SQLITE_FILE: join(directory.path, 'tandem.sqlite'), DATA_DIR: join(directory.path, 'data') };
    const { stop, stderr, http } = await startExample(env);
    // It handles signals once it has answered.
    await http.get('/health/live').expect(200);
    expect(await stop('SIGTERM')).toEqual({ code: 0, signal: null });
    expect(stderr).toEqual([]);
  });
});
