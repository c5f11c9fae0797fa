import { describe, expect, it, onTestFinished } from 'vitest';
import { storageOver } from '../../../src/adapters/records/storage.ts';
import type { Storage } from '../../../src/application/ports/transactions.ts';
import type { Session } from '../../../src/domain/session.ts';
import { anEvent, aRotation, aSession, aUser, NOW } from '../../support/builders.ts';
import { outcomeOf } from '../../support/rotation/outcome.ts';
import { createDatabase, onPostgresql, TEST_DATABASE_URL } from '../../support/storage/databases.ts';
import { openDatabase } from '../../support/storage/open-database.ts';

const CLIENTS = 64;
const server = TEST_DATABASE_URL;

/** Records in a database whose transactions are serializable unless they say otherwise. */
const openSerializable = async () => {
  const { url, drop } = await createDatabase(server ?? '');
  onTestFinished(drop);
  const first = await openDatabase(onPostgresql(url), { migrate: true });
  const [row] = await first.em.execute<{ name: string }[]>('select current_database() as name');
  await first.em.execute(`alter database "${row?.name}" set default_transaction_isolation = 'serializable'`);
  await first.close();
  const { em, records, close } = await openDatabase(onPostgresql(url), { migrate: true });
  onTestFinished(close);
  expect(await em.execute('show default_transaction_isolation')).toMatchObject([
    { default_transaction_isolation: 'serializable' },
  ]);
  return storageOver(records);
};

const logIn = ({ transactions }: Storage, userId: string): Promise<Session> => {
  const session = aSession({ userId });
  return transactions.run(async ({ users, sessions, events }) => {
    await users.lock(userId);
    await sessions.add(session);
    await events.add([anEvent({ userId, kind: 'logged-in', sessionId: session.id, address: '192.0.2.0/24' })]);
    return session;
  });
};

describe.runIf(server !== undefined)('where transactions are serializable', () => {
  it('many clients at once register, log in, refresh and change the password, and none fails', async () => {
    const storage = await openSerializable();
    const people = Array.from({ length: CLIENTS }, () => aUser());
    await Promise.all(
      people.map((user) =>
        storage.transactions.run(async ({ users, events }) => {
          await users.add(user);
          await events.add([anEvent({ userId: user.id, kind: 'registered' })]);
        }),
      ),
    );
    // Eight clients for each user.
    const ids = people.map((_, at) => people[at % 8]?.id ?? expect.unreachable());
    const sessions = await Promise.all(ids.map((id) => logIn(storage, id)));
    const rotations = await Promise.all(sessions.map((session) => storage.sessions.rotate(aRotation(session))));
    expect(rotations.map(outcomeOf)).toEqual(sessions.map(() => 'rotated'));
    await Promise.all(
      sessions.map(({ id, userId }) =>
        storage.transactions.run(async (stores) => {
          const hash = { passwordHash: `hash ${id}`, isOfNewPassword: true, now: NOW };
          await stores.users.setPasswordHash(userId, hash);
          await stores.sessions.endByUser(userId, (each) => each.id !== id);
          await stores.events.add([anEvent({ userId, kind: 'password-changed' })]);
        }),
      ),
    );
    for (const { id } of people.slice(0, 8)) {
      const events = await storage.events.list({ userId: id, before: null, limit: 100 });
      expect(events.find(({ kind }) => kind === 'logged-in')?.count).toBe(CLIENTS / 8);
      expect(events.filter(({ kind }) => kind === 'password-changed')).toHaveLength(CLIENTS / 8);
    }
  });
});
