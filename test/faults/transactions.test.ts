// Proves flood-11
import { expect, it, onTestFinished } from 'vitest';
import type { DatabaseOptions } from '../../src/adapters/mikro-orm/options.ts';
import { openSql } from '../../src/infrastructure/open-sql.ts';
import { aSession, aUser, NOW } from '../support/builders.ts';
import { startHelper } from '../support/processes/processes.ts';
import { openPostgresLine } from '../support/servers/postgres-line.ts';
import { onPostgresql, TEST_DATABASE_URL } from '../support/storage/databases.ts';
import { emptyDatabase, KINDS } from '../support/storage/kinds.ts';

const server = TEST_DATABASE_URL;

const openHere = async (options: DatabaseOptions) => {
  const storage = await openSql(options, { migrate: true });
  onTestFinished(storage.close);
  return storage;
};

/** The same database, with tables. */
const migrated = async <Options extends DatabaseOptions>(options: Options): Promise<Options> => {
  await (await openSql(options, { migrate: true })).close();
  return options;
};
const postgresql = async () => migrated(await emptyDatabase());

/** Starts a process that stops in the middle of a transaction, in which it has added a user. */
const stopInTheMiddle = async (options: DatabaseOptions, user: ReturnType<typeof aUser>) => {
  const program = new URL('../support/processes/open-unit.ts', import.meta.url);
  const helper = await startHelper(program, JSON.stringify(options), JSON.stringify(user));
  onTestFinished(helper.kill);
  expect(helper.output).toBe('in the middle\n');
  return helper;
};

it.each(KINDS)(
  'a process that is killed in the middle of a transaction leaves nothing half done on $on',
  async ({ empty }) => {
    const options = await migrated(await empty());
    const user = aUser();
    const { kill } = await stopInTheMiddle(options, user);
    await kill();
    const { users, sessions, transactions } = await openHere(options);
    expect(await users.findById(user.id)).toBeNull();
    expect(await sessions.listByUser(user.id, NOW)).toEqual([]);
    // It holds no lock either.
    await transactions.run((stores) => stores.users.add(user));
    expect(await users.findById(user.id)).toStrictEqual(user);
  },
);

// As one whose machine is gone: its connection is not closed.
it.runIf(server !== undefined)(
  'a process that is frozen in the middle of a transaction does not keep what it has locked',
  async () => {
    const options = await postgresql();
    const user = aUser();
    const { pid } = await stopInTheMiddle(options, user);
    process.kill(pid, 'SIGSTOP');
    const { users, transactions } = await openHere(options);
    const another = { ...aUser(), username: user.username };
    // Waits for the end of the other transaction, which has the same name.
    await transactions.run((stores) => stores.users.add(another));
    expect(await users.findById(another.id)).toStrictEqual(another);
  },
);

it.runIf(server !== undefined).each([
  ['before', 'none'],
  ['after', 'all'],
] as const)(
  'a connection that is cut at the commit %s the server has executed it answers DB_QUERY_FAILED, and keeps %s of the changes',
  async (when, kept) => {
    const { url } = await postgresql();
    const line = await openPostgresLine(url);
    const { transactions } = await openHere(onPostgresql(line.url));
    const { users, sessions } = await openHere(onPostgresql(url));
    const [user, next] = [aUser(), aUser()];
    const session = aSession({ userId: user.id });
    line.cutAt({ statement: 'commit', when });
    let runs = 0;
    const lost = transactions.run(async (stores) => {
      runs += 1;
      await stores.users.add(user);
      await stores.sessions.add(session);
    });
    await expect(lost).rejects.toMatchObject({ name: 'AppError', code: 'DB_QUERY_FAILED' });
    expect(runs).toBe(1);
    const isKept = kept === 'all';
    await expect.poll(() => users.findById(user.id)).toStrictEqual(isKept ? user : null);
    expect(await sessions.find(session)).toStrictEqual(isKept ? session : null);
    line.cutAt(null);
    await transactions.run((stores) => stores.users.add(next));
    expect(await users.findById(next.id)).toStrictEqual(next);
  },
);
