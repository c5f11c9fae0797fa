import { describe, expect, it } from 'vitest';
import { countUsers, listAllEvents, listUsers } from '../../../src/application/accounts/account-data.ts';
import { registeredAda } from '../../support/account.ts';
import { application } from '../../support/application.ts';
import { aUser } from '../../support/builders.ts';

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

  it.each([0, 1, 2, 7, 64])('are counted: %i', async (count) => {
    const { app } = await setUp(count);
    expect(await countUsers(app)()).toBe(count);
  });

  it('are not listed by a storage that cannot', async () => {
    const { app } = await setUp(1);
    const { list: _, ...users } = app.users;
    const count = countUsers({ users });
    await expect(count()).rejects.toMatchObject({
      code: 'SYS_UNEXPECTED_ERROR',
      reason: expect.stringContaining('list'),
    });
  });
});

describe('the events of all users', () => {
  it('are listed in pages, the latest first', async () => {
    const { app, logIn } = await registeredAda();
    for (const _ of [1, 2]) {
      app.clock.advance(1);
      await logIn();
      await app.register({
        username: `Bob${app.clock.now()}`,
        email: `bob.${app.clock.now()}@example.org`,
        password: 'x y z 1 2 3 4',
      });
    }
    const kinds: string[] = [];
    for (let before: string | null = null; ; ) {
      const { events, next }: Awaited<ReturnType<ReturnType<typeof listAllEvents>>> = await listAllEvents(app)({
        before,
        limit: 1,
      });
      kinds.push(...events.map(({ kind }) => kind));
      before = next;
      if (next === null) break;
    }
    expect(kinds).toEqual(['registered', 'logged-in', 'registered', 'registered']);
  });
});
