import { expect } from 'vitest';
import { aUser, NOW } from '../../support/builders.ts';
import type { Tests } from '../suite.ts';
import { atBoth, untilClose } from '../two-instances.ts';
import { alternated, DUPLICATE, duplicate, type GivenUsers } from './store.ts';

const RACERS = 50;
/** All that JSON has, and texts that some stores refuse. */
const ATTRIBUTES = { roles: ['admin', ''], level: -1.5e3, team: { lead: true, deputy: null }, note: 'ä🔑"\\\0\ud800' };

export const updating = ({ it }: Tests<GivenUsers>): void => {
  it('changes the other fields, and the time of the update', async ({ users }) => {
    const [user, other] = [aUser(), aUser()];
    for (const each of [user, other]) await users.add(each);
    let expected = user;
    const steps = [
      { username: 'New.Name' },
      { email: 'new.address@example.org' },
      { emailVerifiedAt: NOW + 1 },
      { disabledAt: NOW + 2 },
      { emailVerifiedAt: null, disabledAt: null },
      { locale: 'de-AT' },
      { locale: null, disabledAt: null },
      { locale: 'pt-BR' },
      { username: 'new.name' },
      { username: user.username, email: user.email, emailVerifiedAt: 0, disabledAt: NOW },
      { attributes: ATTRIBUTES },
      {},
      { attributes: { roles: [] } },
      { attributes: {} },
    ];
    for (const [step, change] of steps.entries()) {
      expected = { ...expected, ...change, updatedAt: NOW + 10 + step };
      expect(await users.update(user.id, { ...change, now: NOW + 10 + step })).toStrictEqual(expected);
      expect(await users.findById(user.id)).toStrictEqual(expected);
      expect(await users.findByUsername(alternated(expected.username))).toStrictEqual(expected);
      expect(await users.findByEmail(alternated(expected.email))).toStrictEqual(expected);
    }
    const returned = await users.update(user.id, { email: alternated('Canon@Example.org'), now: NOW });
    expect(returned).toMatchObject({ email: 'canon@example.org' });
    Object.assign(returned ?? {}, { username: 'mallory' });
    expect((await users.findById(user.id))?.username).toBe(user.username);
    expect(await users.findById(other.id)).toStrictEqual(other);
  });

  it('changes them only if the given ones still have their values', async ({ users }) => {
    const user = aUser({ emailVerifiedAt: NOW });
    await users.add(user);
    const now = NOW + 5;
    for (const onlyIf of [
      { username: 'another' },
      { username: alternated(user.username) },
      { email: 'another@example.org' },
      { emailVerifiedAt: null },
      { emailVerifiedAt: NOW + 1 },
      { disabledAt: NOW },
      { locale: 'de' },
      { username: user.username, email: user.email, emailVerifiedAt: NOW, disabledAt: 0 },
    ]) {
      expect(await users.update(user.id, { username: 'changed', now }, onlyIf)).toBeNull();
      expect(await users.findById(user.id)).toStrictEqual(user);
    }
    const { username, email } = user;
    let expected = user;
    for (const onlyIf of [
      {},
      { username },
      { email: alternated(email) },
      { emailVerifiedAt: NOW },
      { disabledAt: null },
      { locale: null },
      { username, email, emailVerifiedAt: NOW, disabledAt: null },
    ]) {
      expected = { ...expected, updatedAt: expected.updatedAt + 1 };
      expect(await users.update(user.id, { now: expected.updatedAt }, onlyIf)).toStrictEqual(expected);
    }
  });

  it('changes no fields of an unknown user', async ({ users }) => {
    const [user, stranger] = [aUser(), aUser()];
    await users.add(user);
    for (const id of [stranger.id, user.username, `${user.id} `, '', '\0']) {
      expect(await users.update(id, { username: 'changed', now: NOW })).toBeNull();
    }
    expect(await users.findById(stranger.id)).toBeNull();
    expect(await users.findById(user.id)).toStrictEqual(user);
  });

  it('frees the username and the email that a user gives up', async ({ users }) => {
    const user = aUser();
    await users.add(user);
    await users.update(user.id, { username: 'given.name', email: 'given@example.org', now: NOW });
    expect(await users.findByUsername(user.username)).toBeNull();
    expect(await users.findByEmail(user.email)).toBeNull();
    const successor = aUser({ username: user.username, email: user.email });
    await users.add(successor);
    expect(await users.findByUsername(user.username)).toStrictEqual(successor);
    expect(await users.findByEmail(user.email)).toStrictEqual(successor);
  });

  it('rejects a username or an email that another user has, names it, and changes nothing', async ({ users }) => {
    const [user, other] = [aUser(), aUser()];
    for (const each of [user, other]) await users.add(each);
    for (const change of [
      { username: other.username },
      { username: alternated(other.username), disabledAt: NOW },
      { email: other.email },
      { username: 'free.name', email: alternated(other.email) },
    ]) {
      const refused = duplicate('email' in change ? 'email' : 'username');
      await expect(users.update(user.id, { ...change, now: NOW + 5 })).rejects.toMatchObject(refused);
      expect(await users.findById(user.id)).toStrictEqual(user);
      expect(await users.findByUsername(other.username)).toStrictEqual(other);
      expect(await users.findByEmail(other.email)).toStrictEqual(other);
    }
    expect(await users.findByUsername('free.name')).toBeNull();
  });

  it('accepts exactly one of many concurrent changes to the same username or email', async ({ users }) => {
    for (const change of [{ username: 'coveted' }, { email: 'coveted@example.org' }]) {
      const racers = Array.from({ length: RACERS }, () => aUser());
      for (const racer of racers) await users.add(racer);
      const outcomes = await Promise.allSettled(racers.map(({ id }) => users.update(id, { ...change, now: NOW + 5 })));
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      for (const [at, racer] of racers.entries()) {
        const outcome = outcomes[at];
        const won = outcome?.status === 'fulfilled';
        if (!won) expect(outcome?.reason).toMatchObject(DUPLICATE);
        const expected = won ? { ...racer, ...change, updatedAt: NOW + 5 } : racer;
        expect(await users.findById(racer.id)).toStrictEqual(expected);
      }
    }
  });

  it('accepts exactly one of two changes to the same username or email by two instances', async ({ users, hook }) => {
    const another = await hook('another')();
    for (const same of ['username', 'email'] as const) {
      await untilClose(async () => {
        const values = Array.from({ length: 40 }, () => aUser()[same]);
        const [theirUsers, ourUsers] = [values.map(() => aUser()), values.map(() => aUser())];
        for (const user of [...theirUsers, ...ourUsers]) await users.add(user);
        const [theirs, ours] = await atBoth(another, users, (instance) =>
          Promise.allSettled(
            values.map((value, at) => {
              const { id } = (instance === another ? theirUsers : ourUsers)[at] ?? expect.unreachable();
              return instance.update(id, { [same]: value, now: NOW });
            }),
          ),
        );
        for (const at of values.keys()) {
          const outcomes = [theirs[at], ours[at]];
          expect(outcomes.filter((outcome) => outcome?.status === 'fulfilled')).toHaveLength(1);
          const rejected = outcomes.find((outcome) => outcome?.status === 'rejected');
          expect(rejected).toMatchObject({ reason: DUPLICATE });
        }
        return theirs.map(({ status }) => status === 'fulfilled');
      });
    }
  });

  it('accepts exactly one of two changes of the same value by two instances', async ({ users, hook }) => {
    const another = await hook('another')();
    await untilClose(async () => {
      const stored = Array.from({ length: 40 }, () => aUser());
      for (const user of stored) await users.add(user);
      const [theirs, ours] = await atBoth(another, users, (instance) =>
        Promise.all(stored.map(({ id }) => instance.update(id, { disabledAt: NOW, now: NOW }, { disabledAt: null }))),
      );
      for (const at of stored.keys()) {
        expect([theirs[at], ours[at]].filter((user) => user !== null)).toHaveLength(1);
      }
      return theirs.map((user) => user !== null);
    });
  });
};
