import { describe, expect, it } from 'vitest';
import { listAllEvents } from '../../../src/application/accounts/account-data.ts';
import { listUsers } from '../../../src/application/accounts/list-users.ts';
import { countUsers } from '../../../src/application/storage/rows.ts';
import { anEventRow } from '../../contracts/records/database.ts';
import { registeredAda } from '../../support/account.ts';
import { application } from '../../support/application.ts';
import { anIdentity, aUser } from '../../support/builders.ts';

/** Users, the newest first. */
const setUp = async (count: number) => {
  const app = application();
  const users = Array.from({ length: count }, () => aUser());
  for (const user of users) await app.users.add(user);
  return { app, users: users.toReversed() };
};

describe('the users', () => {
  it('are listed in pages, until the last one', async () => {
    const { app, users } = await setUp(5);
    const list = (after: string | null) => listUsers(app)({ contains: null, after, newestFirst: true, limit: 2 });
    const first = await list(null);
    expect(first).toStrictEqual({ users: users.slice(0, 2), next: users[1]?.id });
    expect(await list(users[3]?.id ?? null)).toStrictEqual({ users: users.slice(4), next: null });
    expect((await list(users[2]?.id ?? null)).next).toBeNull();
  });

  it.each<[only: string, found: readonly number[]]>([
    ['disabled', [3]],
    ['unverified', [2]],
    ['second-factor', [1]],
    ['provider:google', [2, 0]],
    ['logged-in', [1, 3]],
  ])('are listed by a filter: %s', async (only, found) => {
    const app = application();
    const users = [{}, { secondFactorAt: 1 }, { emailVerifiedAt: null }, { disabledAt: 1 }].map((each) =>
      aUser({ emailVerifiedAt: 1, ...each }),
    );
    for (const user of users) await app.users.add(user);
    const idOf = (at: number) => users[at]?.id ?? '';
    for (const at of [0, 2])
      await app.records.insert('identities', anIdentity({ userId: idOf(at), provider: 'google' }));
    for (const [at, user] of [3, 1, 3, 1].entries())
      await app.records.insert('events', anEventRow({ userId: idOf(user), kind: 'logged-in', at }));
    const query = { only, contains: null, newestFirst: true };
    const all = await listUsers(app)({ ...query, after: null, limit: 10 });
    expect(all).toMatchObject({ users: found.map((at) => ({ id: idOf(at) })), next: null });
    const first = await listUsers(app)({ ...query, after: null, limit: 1 });
    expect(first.users).toEqual(all.users.slice(0, 1));
    if (found.length > 1)
      expect((await listUsers(app)({ ...query, after: first.next, limit: 1 })).users[0]).toEqual(all.users[1]);
    const none = { ...query, contains: 'NOBODY', after: null, limit: 1 };
    expect(await listUsers(app)(none)).toEqual({ users: [], next: null });
  });

  it('are not listed by log-ins from a place in the list by ids on', async () => {
    const { app, users } = await setUp(1);
    const query = { only: 'logged-in', contains: null, newestFirst: true, after: users[0]?.id ?? '', limit: 1 };
    await expect(listUsers(app)(query)).rejects.toMatchObject({ code: 'CLIENT_PARAMS_VALIDATION_FAILED' });
  });

  it.each([0, 1, 2, 7, 64])('are counted: %i', async (count) => {
    const { app } = await setUp(count);
    expect(await countUsers(app)).toBe(count);
  });

  it('are not listed by a storage that cannot', async () => {
    const { app } = await setUp(1);
    const { list: _, ...users } = app.users;
    await expect(countUsers({ users })).rejects.toMatchObject({
      code: 'SYS_UNEXPECTED_ERROR',
      reason: expect.stringContaining('list'),
    });
  });
});

it('the events of all users are listed in pages, the latest first', async () => {
  const { app, logIn } = await registeredAda();
  for (const _ of [1, 2]) {
    app.clock.advance(1);
    await logIn();
    const username = `Bob${app.clock.now()}`;
    await app.register({ username, email: `${username}@example.org`, password: 'x y z 1 2 3 4' });
  }
  const kinds: string[] = [];
  let before: string | null = null;
  do {
    const page: Awaited<ReturnType<ReturnType<typeof listAllEvents>>> = await listAllEvents(app)({ before, limit: 1 });
    kinds.push(...page.events.map(({ kind }) => kind));
    before = page.next;
  } while (before !== null);
  expect(kinds).toEqual(['registered', 'logged-in', 'registered', 'registered']);
});
