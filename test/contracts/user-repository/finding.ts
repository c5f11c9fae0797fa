import { expect } from 'vitest';
import { aUser, NOW } from '../../support/builders.ts';
import { expectTranslated, rejection } from '../hooks.ts';
import type { Tests } from '../suite.ts';
import { ANOTHER, alternated, type GivenUsers } from './store.ts';

export const finding = ({ it }: Tests<GivenUsers>): void => {
  it('finds a user by id, by username and by email', async ({ users }) => {
    const times = { createdAt: NOW - 1, emailVerifiedAt: NOW - 2, disabledAt: NOW - 3 };
    const [user, other] = [aUser({ ...times, locale: 'de-AT' }), aUser()];
    await users.add(user);
    await users.add(other);
    expect(await users.findById(user.id)).toStrictEqual(user);
    expect(await users.findByUsername(user.username)).toStrictEqual(user);
    expect(await users.findByEmail(user.email)).toStrictEqual(user);
    expect(await users.findById(other.id)).toStrictEqual(other);
  });

  it('returns null for an unknown user', async ({ users }) => {
    const user = aUser();
    await users.add(user);
    const stranger = aUser();
    expect(await users.findById(stranger.id)).toBeNull();
    expect(await users.findByUsername(stranger.username)).toBeNull();
    expect(await users.findByEmail(stranger.email)).toBeNull();
    expect(await users.findByUsername(user.email)).toBeNull();
    expect(await users.findByEmail(user.username)).toBeNull();
    expect(await users.findByUsername(user.username.replace('.', '_'))).toBeNull();
    expect(await users.findByUsername('%')).toBeNull();
    expect(await users.findByUsername('')).toBeNull();
  });

  it('returns the user that it locks, and null for an unknown one', async ({ users }) => {
    const user = aUser({ emailVerifiedAt: NOW });
    await users.add(user);
    expect(await users.lock(user.id)).toStrictEqual(user);
    expect(await users.lock(aUser().id)).toBeNull();
    expect(await users.lock('no id')).toBeNull();
  });

  it('finds a username in any letter case, and returns it as it was registered', async ({ users }) => {
    const user = aUser({ username: 'aDa.DIvidini' });
    await users.add(user);
    for (const written of ['ada.dividini', 'ADA.DIVIDINI', alternated('ada.dividini')]) {
      expect((await users.findByUsername(written))?.username).toBe('aDa.DIvidini');
    }
  });

  it('finds an email in any letter case, and returns it in canonical form', async ({ users }) => {
    const user = aUser();
    await users.add(user);
    for (const written of [user.email.toUpperCase(), alternated(user.email)]) {
      expect(await users.findByEmail(written)).toStrictEqual(user);
    }
    const given = aUser();
    await users.add({ ...given, email: alternated(given.email) });
    expect(await users.findById(given.id)).toStrictEqual(given);
    expect(await users.findByEmail(given.email)).toStrictEqual(given);
  });

  it('returns null for a name that cannot be stored', async ({ users }) => {
    const user = aUser();
    await users.add(user);
    for (const unheard of ['\0', `${user.username}\0`, '\ud800', `${user.username}\udfff`, 'x'.repeat(100_000)]) {
      expect(await users.findByUsername(unheard)).toBeNull();
      expect(await users.findByEmail(unheard)).toBeNull();
    }
  });

  it('distinguishes an id from the same id with spaces around it', async ({ users }) => {
    const user = aUser();
    await users.add(user);
    for (const id of [`${user.id} `, `${user.id}   `, ` ${user.id}`]) {
      expect(await users.findById(id)).toBeNull();
      expect(await users.setPasswordHash(id, ANOTHER)).toBe(false);
    }
    expect(await users.findById(user.id)).toStrictEqual(user);
  });

  it('is not affected by changes to a user that it was given or has returned', async ({ users }) => {
    const user = aUser({ attributes: { roles: ['reader'] } });
    const given = structuredClone(user);
    await users.add(given);
    Object.assign(given, { username: 'mallory', passwordHash: 'theirs', updatedAt: NOW + 9 });
    Object.assign(given.attributes, { roles: ['admin'] });
    for (const find of [
      () => users.findById(user.id),
      () => users.findByUsername(user.username),
      () => users.findByEmail(user.email),
    ]) {
      const found = await find();
      expect(found).toStrictEqual(user);
      Object.assign(found?.attributes ?? {}, { roles: ['admin'] });
      Object.assign(found ?? {}, { id: 'other', username: 'mallory', passwordHash: 'theirs' });
      expect(await find()).toStrictEqual(user);
    }
  });

  it('returns what another instance over the same store has written', async ({ users, hook }) => {
    const another = await hook('another')();
    const user = aUser();
    await users.add(user);
    expect(await another.findById(user.id)).toStrictEqual(user);
    expect(await users.findById(user.id)).toStrictEqual(user);
    const changed = await users.update(user.id, { emailVerifiedAt: NOW, now: NOW + 3 });
    expect(await another.findById(user.id)).toStrictEqual(changed);
    expect(await another.setPasswordHash(user.id, ANOTHER)).toBe(true);
    for (const found of [await users.findById(user.id), await users.findByEmail(user.email)]) {
      expect(found).toMatchObject({ passwordHash: ANOTHER.passwordHash });
    }
    const theirs = aUser();
    await another.add(theirs);
    expect(await users.findByUsername(theirs.username)).toStrictEqual(theirs);
  });

  it('rejects with DB_QUERY_FAILED alone when its store fails, and repeats nothing that is stored', async (given) => {
    const { users, hook } = given;
    const [user, fresh] = [aUser(), aUser()];
    await users.add(user);
    const failing = await hook('failing')();
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
      id,
      username,
      email,
      passwordHash,
    ]);
    for (const call of calls) expectTranslated(await rejection(call()), [...secrets, ANOTHER.passwordHash]);
    expect(await users.findById(user.id)).toStrictEqual(user);
  });
};
