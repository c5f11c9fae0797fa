import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { UserRepository } from '../../src/application/ports/user-repository.ts';
import { aUser, NOW } from '../support/builders.ts';

type Made = { readonly repository: UserRepository; readonly close?: () => Promise<void> };

const RACERS = 50;
const ANOTHER = { passwordHash: 'another hash', isOfNewPassword: true, now: NOW + 5 };
const DUPLICATE = { name: 'AppError', code: 'AUTH_USER_DUPLICATE' };

/** The same text in alternating letter case. */
const alternated = (text: string): string =>
  [...text].map((letter, at) => (at % 2 === 0 ? letter.toUpperCase() : letter.toLowerCase())).join('');

/** @param make makes an empty repository. */
export const describeUserRepository = (name: string, make: () => Promise<Made>) => {
  describe(`${name} as a UserRepository`, () => {
    let made: Made;
    let users: UserRepository;
    beforeEach(async () => {
      made = await make();
      users = made.repository;
    });
    afterEach(() => made.close?.());

    it('finds a user by id, by username and by email', async () => {
      const [user, other] = [aUser(), aUser()];
      await users.add(user);
      await users.add(other);
      expect(await users.findById(user.id)).toStrictEqual(user);
      expect(await users.findByUsername(user.username)).toStrictEqual(user);
      expect(await users.findByEmail(user.email)).toStrictEqual(user);
      expect(await users.findById(other.id)).toStrictEqual(other);
    });

    it('returns null for an unknown user', async () => {
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

    it('finds a username in any letter case, and returns it as it was registered', async () => {
      const user = aUser({ username: 'aDa.Lovelace' });
      await users.add(user);
      for (const written of ['ada.lovelace', 'ADA.LOVELACE', alternated('ada.lovelace')]) {
        expect((await users.findByUsername(written))?.username).toBe('aDa.Lovelace');
      }
    });

    it('finds an email in any letter case', async () => {
      const user = aUser();
      await users.add(user);
      for (const written of [user.email.toUpperCase(), alternated(user.email)]) {
        expect(await users.findByEmail(written)).toStrictEqual(user);
      }
    });

    it('returns null for a name that cannot be stored', async () => {
      const user = aUser();
      await users.add(user);
      for (const unheard of ['\0', `${user.username}\0`, '\ud800', `${user.username}\udfff`, 'x'.repeat(100_000)]) {
        expect(await users.findByUsername(unheard)).toBeNull();
        expect(await users.findByEmail(unheard)).toBeNull();
      }
    });

    it('distinguishes an id from the same id with spaces around it', async () => {
      const user = aUser();
      await users.add(user);
      for (const id of [`${user.id} `, `${user.id}   `, ` ${user.id}`]) {
        expect(await users.findById(id)).toBeNull();
        expect(await users.setPasswordHash(id, ANOTHER)).toBe(false);
      }
      expect(await users.findById(user.id)).toStrictEqual(user);
    });

    it('rejects a second user with the same username, in any letter case', async () => {
      const user = aUser();
      await users.add(user);
      for (const username of [user.username, alternated(user.username)]) {
        await expect(users.add(aUser({ username }))).rejects.toMatchObject(DUPLICATE);
      }
    });

    it('rejects a second user with the same email, in any letter case', async () => {
      const user = aUser();
      await users.add(user);
      for (const email of [user.email, alternated(user.email)]) {
        await expect(users.add(aUser({ email }))).rejects.toMatchObject(DUPLICATE);
      }
    });

    it('rejects a second user with the same id', async () => {
      const user = aUser();
      await users.add(user);
      await expect(users.add(aUser({ id: user.id }))).rejects.toMatchObject({
        name: 'AppError',
        code: 'DB_UNIQUE_VIOLATION',
      });
      expect(await users.findById(user.id)).toStrictEqual(user);
    });

    it('stores nothing of a rejected user', async () => {
      const user = aUser();
      await users.add(user);
      const sameUsername = aUser({ username: user.username });
      const sameEmail = aUser({ email: user.email });
      const sameId = aUser({ id: user.id });
      for (const rejected of [sameUsername, sameEmail, sameId]) await users.add(rejected).catch(() => undefined);

      expect(await users.findById(sameUsername.id)).toBeNull();
      expect(await users.findByUsername(sameEmail.username)).toBeNull();
      expect(await users.findByEmail(sameId.email)).toBeNull();
      const heir = aUser({ id: sameUsername.id, username: sameEmail.username, email: sameId.email });
      await users.add(heir);
      expect(await users.findById(heir.id)).toStrictEqual(heir);
    });

    it('accepts exactly one of many concurrent adds with the same username', async () => {
      const username = 'everybody';
      const racers = Array.from({ length: RACERS }, (_, at) =>
        aUser({ username: at % 2 === 0 ? username : alternated(username) }),
      );
      const outcomes = await Promise.allSettled(racers.map((racer) => users.add(racer)));

      const winners = racers.filter((_, at) => outcomes[at]?.status === 'fulfilled');
      expect(winners).toHaveLength(1);
      expect(await users.findByUsername(username)).toStrictEqual(winners[0]);
      for (const outcome of outcomes) {
        if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject(DUPLICATE);
      }
      for (const racer of racers) {
        expect(await users.findById(racer.id)).toStrictEqual(racer === winners[0] ? racer : null);
      }
    });

    it('changes the password hash of a user, and the time of the update', async () => {
      const [user, other] = [aUser(), aUser()];
      await users.add(user);
      await users.add(other);
      expect(await users.setPasswordHash(user.id, ANOTHER)).toBe(true);
      const changed = { ...user, passwordHash: 'another hash', updatedAt: NOW + 5, passwordChangedAt: NOW + 5 };
      expect(await users.findById(user.id)).toStrictEqual(changed);
      expect(await users.findByUsername(user.username)).toStrictEqual(changed);
      expect(await users.findByEmail(user.email)).toStrictEqual(changed);
      expect(await users.findById(other.id)).toStrictEqual(other);
      await expect(users.add(aUser({ username: user.username }))).rejects.toMatchObject(DUPLICATE);
    });

    it('records when the password was last changed, but not for a new hash of the same password', async () => {
      const user = aUser({ passwordChangedAt: NOW + 1 });
      await users.add(user);
      const changedAt = async () => (await users.findById(user.id))?.passwordChangedAt;
      expect(await changedAt()).toBe(NOW + 1);
      await users.setPasswordHash(user.id, { ...ANOTHER, isOfNewPassword: false });
      expect(await changedAt()).toBe(NOW + 1);
      await users.setPasswordHash(user.id, ANOTHER);
      expect(await changedAt()).toBe(NOW + 5);
      await users.setPasswordHash(user.id, { ...ANOTHER, now: NOW + 9, replaces: 'a hash of long ago' });
      expect(await changedAt()).toBe(NOW + 5);
    });

    it('changes the hash only if the one to be replaced is still stored', async () => {
      const user = aUser();
      await users.add(user);
      expect(await users.setPasswordHash(user.id, { ...ANOTHER, replaces: 'a hash of long ago' })).toBe(false);
      expect(await users.findById(user.id)).toStrictEqual(user);
      expect(await users.setPasswordHash(user.id, { ...ANOTHER, replaces: user.passwordHash })).toBe(true);
      expect((await users.findById(user.id))?.passwordHash).toBe('another hash');
    });

    it('returns false for an unknown user', async () => {
      const [user, stranger] = [aUser(), aUser()];
      await users.add(user);
      for (const id of [stranger.id, user.username, '']) {
        expect(await users.setPasswordHash(id, ANOTHER)).toBe(false);
      }
      expect(await users.findById(stranger.id)).toBeNull();
      expect(await users.findById(user.id)).toStrictEqual(user);
    });

    it('accepts exactly one of many concurrent replacements of the same hash', async () => {
      const user = aUser();
      await users.add(user);
      const hashes = Array.from({ length: RACERS }, (_, at) => `hash ${at}`);
      const won = await Promise.all(
        hashes.map((passwordHash) =>
          users.setPasswordHash(user.id, { ...ANOTHER, passwordHash, replaces: user.passwordHash }),
        ),
      );
      const winners = hashes.filter((_, at) => won[at]);
      expect(winners).toHaveLength(1);
      expect((await users.findById(user.id))?.passwordHash).toBe(winners[0]);
    });

    it('removes a user, so that the username and the email are free again', async () => {
      const [user, other] = [aUser(), aUser()];
      await users.add(user);
      await users.add(other);
      await users.remove(user.id);
      expect(await users.findById(user.id)).toBeNull();
      expect(await users.findByUsername(user.username)).toBeNull();
      expect(await users.findByEmail(user.email)).toBeNull();
      expect(await users.setPasswordHash(user.id, ANOTHER)).toBe(false);
      expect(await users.findById(other.id)).toStrictEqual(other);
      const successor = aUser({ username: user.username, email: user.email });
      await users.add(successor);
      expect(await users.findByEmail(user.email)).toStrictEqual(successor);
    });

    it('removes nothing when the user is unknown', async () => {
      const user = aUser();
      await users.add(user);
      for (const id of [aUser().id, user.username, `${user.id} `, '', '\0']) await users.remove(id);
      expect(await users.findById(user.id)).toStrictEqual(user);
    });

    it('is not affected by changes to a user that it was given or has returned', async () => {
      const user = aUser();
      const given = { ...user };
      await users.add(given);
      Object.assign(given, { username: 'mallory', passwordHash: 'theirs', updatedAt: NOW + 9 });
      for (const find of [
        () => users.findById(user.id),
        () => users.findByUsername(user.username),
        () => users.findByEmail(user.email),
      ]) {
        const found = await find();
        expect(found).toStrictEqual(user);
        Object.assign(found ?? {}, { id: 'other', username: 'mallory', passwordHash: 'theirs' });
        expect(await find()).toStrictEqual(user);
      }
    });
  });
};
