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
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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

/** The file of all contracts. */
const shared = temporaryDirectory();
const path = join(shared.path, 'tandem.sqlite');
const opened = openSqliteStorage(path);
const admin = openDatabase(path);
type Thread = Awaited<ReturnType<typeof inThread>>;
/** The threads of all tests, since to start one takes longer than most tests: by what they were opened with, and by their number in a test. */
const threads = new Map<string, Promise<Thread>>();
const threadWith = (given: ThreadStore, number: number): Promise<Thread> => {
  const name = JSON.stringify([given, number]);
  const thread = threads.get(name) ?? inThread(IN_THREAD, given);
  threads.set(name, thread);
  return thread;
};
afterAll(async () => {
  for (const thread of threads.values()) await (await thread).close();
  admin.close();
  opened.close();
  shared.remove();
});

/** Leaves nothing but two users in the file. @returns its storage, and whatever else is opened over it. */
const clearFile = async () => {
  if (admin.isTransaction) admin.exec('rollback');
  admin.exec(
    'delete from users; delete from outbox; delete from mailboxes; delete from usedValues; delete from operations',
  );
  const users = [aUser(), aUser()] as const;
  for (const user of users) await opened.storage.users.add(user);
  const taken: Thread[] = [];
  return {
    ...{ storage: opened.storage, users },
    inAnother: async <Port extends keyof Stores>(port: Port, given: Omit<ThreadStore, 'path' | 'port'> = {}) => {
      const thread = await threadWith({ ...given, port, path }, taken.length);
      taken.push(thread);
      return thread.port as Stores[Port];
    },
    /** Until the calls in all threads have begun: their budgets are counted from then on. */
    begun: () => Promise.all(taken.map((thread) => thread.begun())),
    /** A storage whose file was closed: every statement fails. */
    closed: () => {
      const { storage, close } = openSqliteStorage(path);
      close();
      return storage;
    },
    deleteUser: async (id: string) => void admin.prepare('delete from users where id = ?').run(id),
  };
};

describeUserRepository('sqliteUserRepository', async () => {
  const { storage, inAnother, closed } = await clearFile();
  return {
    repository: storage.users,
    another: () => inAnother('users'),
    failing: async () => closed().users,
  };
});

describeSessionRepository('sqliteSessionRepository', async () => {
  const { storage, begun, inAnother, closed, ...file } = await clearFile();
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
  const { storage, users, inAnother, closed, deleteUser } = await clearFile();
  return {
    repository: storage[name],
    owners: [users[0].id, users[1].id],
    another: () => inAnother(name),
    failing: async () => closed()[name],
    deleteUser,
  };
});

describeUnitOfWork('the unit of work', async () => {
  const { storage, closed } = await clearFile();
  const { unitOfWork, ...stores } = storage;
  return {
    unitOfWork,
    stores,
    interfere: absent('units run one after the other'),
    untilOneWaits: () => setImmediate(),
    failing: async () => closed().unitOfWork,
  };
});

describe('a file of SQLite that another process has locked', () => {
  it('fails a write within a bounded time, with a retryable error that names the reason', async () => {
    const { inAnother } = await clearFile();
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
