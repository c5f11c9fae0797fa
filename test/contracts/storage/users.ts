// Proves SPEC 20.13, 20.14

import { expect } from 'vitest';
import { EMAIL_MAX_LENGTH, USERNAME_MAX_LENGTH } from '../../../src/domain/user.ts';
import { aUser, NOW } from '../../support/builders.ts';
import { expectTranslated, rejection } from '../hooks.ts';
import type { Tests } from '../suite.ts';
import { raced } from './given.ts';
import { ANOTHER, alternated, DUPLICATE, duplicate, type GivenUsers } from './given-users.ts';

const RACERS = 50;

export const addingUsers = (tests: Tests<GivenUsers>): void => {
  listing(tests);
  finding(tests);
  adding(tests);
};

const ALL = { contains: null, after: null, newestFirst: true, limit: 100 };

const listing = ({ it }: Tests<GivenUsers>): void => {
  it('lists users in the order of their ids, either way, from one of them on', async ({ list, added }) => {
    const [first, second, third] = await added({}, {}, {});
    expect(await list(ALL)).toStrictEqual([third, second, first]);
    expect(await list({ ...ALL, newestFirst: false, skip: 1 })).toStrictEqual([second, third]);
    expect(await list({ ...ALL, after: third.id, limit: 1 })).toStrictEqual([second]);
    expect(await list({ ...ALL, after: second.id, newestFirst: false })).toStrictEqual([third]);
  });

  it('lists those alone whose username or email has a text, in any letter case', async ({ list, added }) => {
    const [ada, beda, odd] = await added(
      { username: 'Ada.Lovelace', email: 'countess@example.org' },
      { username: 'Beda', email: 'ada+beda@example.org' },
      { username: 'odd_one', email: "o'ne%!@example.net" },
    );
    await added(...Array.from({ length: 40 }, () => ({})));
    const found = async (contains: string, after: string | null = null) => list({ ...ALL, contains, after, limit: 2 });
    for (const text of ['ADA', 'ada']) expect(await found(text, odd.id)).toStrictEqual([beda, ada]);
    for (const text of ['oDD_oNE', 'd_o', 'e%!@', "o'n"]) expect(await found(text)).toStrictEqual([odd]);
    expect(await found('ada', beda.id)).toStrictEqual([ada]);
    for (const text of ['adaada', 'a_a', 'a%a', '"ada"', 'ada\0', '\ud800', 'x'.repeat(10_000)])
      expect(await found(text)).toEqual([]);
    expect(await found('person.')).toHaveLength(2);
  });

  it('lists those alone whose username or email begins with one or two characters, in the order of these names, from one of them on', async (given) => {
    const { list, added } = given;
    const [both, short, byEmail, byTheFirst, other] = await added(
      { username: 'Zq.b', email: 'zq.b@example.org' },
      { username: 'zQ' },
      { email: 'zq.c@example.org' },
      { username: 'zq.x', email: 'zq.a@example.org' },
      { username: 'zr' },
      { username: 'a_zq', email: 'a.zq@example.org' },
    );
    const inOrder = [short, byTheFirst, both, byEmail];
    for (const limit of [1, 2, 3, 100])
      for (const text of ['zq', 'ZQ', 'z'] as const) {
        const found = text === 'z' ? [...inOrder, other] : inOrder;
        for (let at = 0; at <= found.length; at += 1) {
          const query = { ...ALL, contains: text, after: found[at - 1]?.id ?? null, limit };
          expect(await list(query)).toStrictEqual(found.slice(at, at + limit));
        }
      }
    // The last one of the page before is gone, or has other names.
    expect(await list({ ...ALL, contains: 'zq', after: aUser().id })).toStrictEqual(inOrder);
    expect(await list({ ...ALL, contains: 'zq', after: other.id, newestFirst: false })).toStrictEqual(inOrder);
    for (const text of ['%', '_', 'q', 'z\0', '\ud800']) expect(await list({ ...ALL, contains: text })).toEqual([]);
  });
};

const finding = ({ it }: Tests<GivenUsers>): void => {
  it('finds a user by id, by username and by email', async ({ users, added }) => {
    const times = { createdAt: NOW - 1, emailVerifiedAt: NOW - 2, disabledAt: NOW - 3 };
    for (const user of await added({ ...times, locale: 'de-AT' }, {})) {
      expect(await users.findById(user.id)).toStrictEqual(user);
      expect(await users.findByUsername(user.username)).toStrictEqual(user);
      expect(await users.findByEmail(user.email)).toStrictEqual(user);
    }
  });

  it('returns null for an unknown user', async ({ users, added }) => {
    const [[user], stranger] = [await added({}), aUser()];
    for (const id of [stranger.id, user.username, `${user.id} `, ` ${user.id}`, ''])
      expect(await users.findById(id)).toBeNull();
    for (const name of [stranger.username, user.email, user.username.replace('.', '_'), '%', ''])
      expect(await users.findByUsername(name)).toBeNull();
    for (const email of [stranger.email, user.username]) expect(await users.findByEmail(email)).toBeNull();
  });

  it('returns the user that it locks, and null for an unknown one', async ({ users, added }) => {
    const [user] = await added({ emailVerifiedAt: NOW });
    expect(await users.lock(user.id)).toStrictEqual(user);
    for (const id of [aUser().id, 'no id']) expect(await users.lock(id)).toBeNull();
  });

  it('finds a username in any letter case, and returns it as it was registered', async ({ users, added }) => {
    await added({ username: 'aDa.DIvidini' });
    for (const written of ['ada.dividini', 'ADA.DIVIDINI', alternated('ada.dividini')])
      expect((await users.findByUsername(written))?.username).toBe('aDa.DIvidini');
  });

  it('finds an email in any letter case, and returns it in canonical form', async ({ users, added }) => {
    const [user] = await added({});
    for (const written of [user.email.toUpperCase(), alternated(user.email)])
      expect(await users.findByEmail(written)).toStrictEqual(user);
    const given = aUser();
    await users.add({ ...given, email: alternated(given.email) });
    expect(await users.findById(given.id)).toStrictEqual(given);
    expect(await users.findByEmail(given.email)).toStrictEqual(given);
  });

  it('returns null for a name that cannot be stored', async ({ users, added }) => {
    const [user] = await added({});
    for (const unheard of ['\0', `${user.username}\0`, '\ud800', `${user.username}\udfff`, 'x'.repeat(100_000)]) {
      expect(await users.findByUsername(unheard)).toBeNull();
      expect(await users.findByEmail(unheard)).toBeNull();
    }
  });

  it('rejects with DB_QUERY_FAILED alone when its store fails, and quotes nothing that is stored', async (given) => {
    const { users, added } = given;
    const [[user], fresh] = [await added({}), aUser()];
    const failing = await given.failing();
    const calls = [
      () => failing.add(fresh),
      () => failing.findById(user.id),
      () => failing.findByUsername(user.username),
      () => failing.findByEmail(user.email),
      () => failing.setPasswordHash(user.id, ANOTHER),
      () => failing.setPasswordHash(user.id, { ...ANOTHER, replaces: user.passwordHash }),
      () => failing.update(user.id, { username: fresh.username, email: fresh.email, now: NOW }),
      () => failing.update(user.id, { now: NOW }, { username: user.username, email: user.email }),
      () => failing.remove(user.id),
    ];
    const secrets = [user, fresh].flatMap(({ id, username, email, passwordHash }) => [
      ...[id, username, email, passwordHash],
    ]);
    for (const call of calls) expectTranslated(await rejection(call()), [...secrets, ANOTHER.passwordHash]);
    expect(await users.findById(user.id)).toStrictEqual(user);
  });
};

const adding = ({ it }: Tests<GivenUsers>): void => {
  it('rejects a second user with the same username or email, in any letter case, and names it', async (given) => {
    const { users, added } = given;
    const [user] = await added({});
    for (const taken of ['username', 'email'] as const)
      for (const value of [user[taken], alternated(user[taken])])
        await expect(users.add(aUser({ [taken]: value }))).rejects.toMatchObject(duplicate(taken));
  });

  it('rejects a second user with the same id', async ({ users, added }) => {
    const [user] = await added({});
    const error = { name: 'AppError', code: 'DB_UNIQUE_VIOLATION' };
    await expect(users.add(aUser({ id: user.id }))).rejects.toMatchObject(error);
    expect(await users.findById(user.id)).toStrictEqual(user);
  });

  it('distinguishes names that only resemble each other, also by their last character', async ({ users, added }) => {
    const names = ['some.person', 'some_person', 'some-person', 's_%'];
    const domain = [63, 63, 60].map((length) => 'd'.repeat(length)).join('.');
    const alike = await added(
      ...names.map((username) => ({ username, email: `${username}@example.org` })),
      ...['x', 'y'].map((last) => ({
        username: `${'u'.repeat(USERNAME_MAX_LENGTH - 1)}${last}`,
        email: `${'l'.repeat(64)}@${domain}${last}`,
      })),
    );
    expect(alike.at(-1)?.email).toHaveLength(EMAIL_MAX_LENGTH);
    for (const user of alike) {
      expect(await users.findByUsername(user.username)).toStrictEqual(user);
      expect(await users.findByEmail(user.email)).toStrictEqual(user);
    }
  });

  it('stores nothing of a rejected user', async ({ users, added }) => {
    const [user] = await added({});
    const sameUsername = aUser({ username: user.username });
    const sameEmail = aUser({ email: user.email });
    const sameId = aUser({ id: user.id });
    for (const rejected of [sameUsername, sameEmail, sameId]) await users.add(rejected).catch(() => undefined);
    expect(await users.findById(sameUsername.id)).toBeNull();
    expect(await users.findByUsername(sameEmail.username)).toBeNull();
    expect(await users.findByEmail(sameId.email)).toBeNull();
    const [heir] = await added({ id: sameUsername.id, username: sameEmail.username, email: sameId.email });
    expect(await users.findById(heir.id)).toStrictEqual(heir);
  });

  it('accepts exactly one of many concurrent adds with the same username or email', async ({ users, another }) => {
    for (const [same, value] of [
      ['username', 'everybody'],
      ['email', 'everybody@example.org'],
    ] as const) {
      const racers = Array.from({ length: RACERS }, (_, at) =>
        aUser({ [same]: at % 3 === 0 ? value : alternated(value) }),
      );
      const outcomes = await raced([users, another], RACERS, (instance, at) =>
        instance.add(racers[at] ?? expect.unreachable()).then(
          () => 'added',
          (error: unknown) => error,
        ),
      );
      expect(outcomes.filter((outcome) => outcome === 'added')).toHaveLength(1);
      for (const outcome of outcomes) if (outcome !== 'added') expect(outcome).toMatchObject(DUPLICATE);
      const stored = await Promise.all(racers.map(({ id }) => users.findById(id)));
      expect(stored.map((user) => user !== null)).toEqual(outcomes.map((outcome) => outcome === 'added'));
    }
  });
};
