import { expect } from 'vitest';
import { aUser, NOW } from '../../support/builders.ts';
import type { Tests } from '../suite.ts';
import { raced } from './given.ts';
import { ANOTHER, alternated, DUPLICATE, duplicate, type GivenUsers } from './given-users.ts';

const RACERS = 50;
/** All that JSON has, and texts that some stores refuse. */
const ATTRIBUTES = { roles: ['admin', ''], level: -1.5e3, team: { lead: true, deputy: null }, note: 'ä🔑"\\\0\ud800' };

export const changingUsers = ({ it }: Tests<GivenUsers>): void => {
  it('changes the password hash of a user, and the time of the update', async ({ users, added }) => {
    const [user, other] = await added({}, {});
    expect(await users.setPasswordHash(user.id, ANOTHER)).toBe(true);
    const changed = { ...user, passwordHash: 'another hash', updatedAt: NOW + 5, passwordChangedAt: NOW + 5 };
    expect(await users.findById(user.id)).toStrictEqual(changed);
    expect(await users.findByUsername(user.username)).toStrictEqual(changed);
    expect(await users.findById(other.id)).toStrictEqual(other);
  });

  it('records when the password was last changed, but not for a new hash of the same password', async (given) => {
    const { users, added } = given;
    const [user] = await added({ passwordChangedAt: NOW + 1 });
    for (const [change, changedAt] of [
      [{ ...ANOTHER, isOfNewPassword: false }, NOW + 1],
      [ANOTHER, NOW + 5],
      [{ ...ANOTHER, now: NOW + 9, replaces: 'a hash of long ago' }, NOW + 5],
    ] as const) {
      await users.setPasswordHash(user.id, change);
      expect(await users.findById(user.id)).toMatchObject({ passwordChangedAt: changedAt });
    }
  });

  it('changes the hash only if the one to be replaced is still stored', async ({ users, added }) => {
    const [user] = await added({});
    expect(await users.setPasswordHash(user.id, { ...ANOTHER, replaces: 'a hash of long ago' })).toBe(false);
    expect(await users.findById(user.id)).toStrictEqual(user);
    expect(await users.setPasswordHash(user.id, { ...ANOTHER, replaces: user.passwordHash })).toBe(true);
    expect((await users.findById(user.id))?.passwordHash).toBe('another hash');
  });

  it('accepts exactly one of many concurrent replacements of the same hash', async ({ users, another, added }) => {
    const [user] = await added({});
    const won = await raced([users, another], RACERS, (instance, at) =>
      instance.setPasswordHash(user.id, { ...ANOTHER, passwordHash: `hash ${at}`, replaces: user.passwordHash }),
    );
    expect(won.filter((each) => each)).toHaveLength(1);
    expect((await users.findById(user.id))?.passwordHash).toBe(`hash ${won.indexOf(true)}`);
  });

  it('changes the other fields, and the time of the update', async ({ users, added }) => {
    const [user, other] = await added({}, {});
    let expected = user;
    const steps = [
      { username: 'New.Name' },
      { email: 'new.address@example.org' },
      { emailVerifiedAt: NOW + 1 },
      { disabledAt: NOW + 2 },
      { removedIdentities: ['a hash'], disabledAt: null },
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
    expect(await users.findById(other.id)).toStrictEqual(other);
  });

  it('changes them only if the given ones still have their values', async ({ users, added }) => {
    const [user] = await added({ emailVerifiedAt: NOW });
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

  it('frees the username and the email that a user gives up', async ({ users, added }) => {
    const [user] = await added({});
    await users.update(user.id, { username: 'given.name', email: 'given@example.org', now: NOW });
    expect(await users.findByUsername(user.username)).toBeNull();
    expect(await users.findByEmail(user.email)).toBeNull();
    const [successor] = await added({ username: user.username, email: user.email });
    expect(await users.findByUsername(user.username)).toStrictEqual(successor);
    expect(await users.findByEmail(user.email)).toStrictEqual(successor);
  });

  it('rejects a username or an email that another user has, names it, and changes nothing', async (given) => {
    const { users, added } = given;
    const [user, other] = await added({}, {});
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

  it('accepts exactly one of many concurrent changes to the same username or email', async (given) => {
    const { users, another, added } = given;
    for (const change of [{ username: 'coveted' }, { email: 'coveted@example.org' }]) {
      const racers = await added(...Array.from({ length: RACERS }, () => ({})));
      const updates = await raced([users, another], RACERS, (instance, at) =>
        instance.update(racers[at]?.id ?? '', { ...change, now: NOW + 5 }).catch((error: unknown) => error),
      );
      const refused = updates.filter((update) => update instanceof Error);
      expect(refused).toHaveLength(RACERS - 1);
      for (const error of refused) expect(error).toMatchObject(DUPLICATE);
      for (const [at, racer] of racers.entries()) {
        const expected = refused.includes(updates[at] as Error) ? racer : { ...racer, ...change, updatedAt: NOW + 5 };
        expect(await users.findById(racer.id)).toStrictEqual(expected);
      }
    }
  });

  it('accepts exactly one of many concurrent changes of the same value', async ({ users, another, added }) => {
    const [user] = await added({});
    const updates = await raced([users, another], RACERS, (instance) =>
      instance.update(user.id, { disabledAt: NOW, now: NOW }, { disabledAt: null }),
    );
    expect(updates.filter((update) => update !== null)).toHaveLength(1);
  });

  it('removes a user, so that the username and the email are free again', async ({ users, added }) => {
    const [user, other] = await added({}, {});
    await users.remove(user.id);
    expect(await users.findById(user.id)).toBeNull();
    expect(await users.findByUsername(user.username)).toBeNull();
    expect(await users.findByEmail(user.email)).toBeNull();
    expect(await users.setPasswordHash(user.id, ANOTHER)).toBe(false);
    expect(await users.findById(other.id)).toStrictEqual(other);
    const [successor] = await added({ username: user.username, email: user.email });
    expect(await users.findByEmail(user.email)).toStrictEqual(successor);
  });

  it('changes and removes nothing when the user is unknown', async ({ users, added }) => {
    const [[user], stranger] = [await added({}), aUser()];
    for (const id of [stranger.id, user.username, `${user.id} `, ` ${user.id}`, '', '\0']) {
      expect(await users.setPasswordHash(id, ANOTHER)).toBe(false);
      expect(await users.update(id, { username: 'changed', now: NOW })).toBeNull();
      await users.remove(id);
    }
    expect(await users.findById(stranger.id)).toBeNull();
    expect(await users.findById(user.id)).toStrictEqual(user);
  });
};
