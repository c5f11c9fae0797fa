import { expect } from 'vitest';
import { aUser, NOW } from '../../support/builders.ts';
import type { Tests } from '../suite.ts';
import { atBoth, untilClose } from '../two-instances.ts';
import { ANOTHER, DUPLICATE, type GivenUsers } from './store.ts';

const RACERS = 50;

export const changing = ({ it }: Tests<GivenUsers>): void => {
  it('changes the password hash of a user, and the time of the update', async ({ users }) => {
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

  it('records when the password was last changed, but not for a new hash of the same password', async ({ users }) => {
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

  it('changes the hash only if the one to be replaced is still stored', async ({ users }) => {
    const user = aUser();
    await users.add(user);
    expect(await users.setPasswordHash(user.id, { ...ANOTHER, replaces: 'a hash of long ago' })).toBe(false);
    expect(await users.findById(user.id)).toStrictEqual(user);
    expect(await users.setPasswordHash(user.id, { ...ANOTHER, replaces: user.passwordHash })).toBe(true);
    expect((await users.findById(user.id))?.passwordHash).toBe('another hash');
  });

  it('returns false for an unknown user', async ({ users }) => {
    const [user, stranger] = [aUser(), aUser()];
    await users.add(user);
    for (const id of [stranger.id, user.username, '']) {
      expect(await users.setPasswordHash(id, ANOTHER)).toBe(false);
    }
    expect(await users.findById(stranger.id)).toBeNull();
    expect(await users.findById(user.id)).toStrictEqual(user);
  });

  it('accepts exactly one of many concurrent replacements of the same hash', async ({ users }) => {
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

  it('accepts exactly one of two replacements of the same hash by two instances', async ({ users, hook }) => {
    const another = await hook('another')();
    await untilClose(async () => {
      const stored = Array.from({ length: 40 }, () => aUser());
      for (const user of stored) await users.add(user);
      const [theirs, ours] = await atBoth(another, users, (instance) =>
        Promise.all(
          stored.map(({ id, passwordHash }) => instance.setPasswordHash(id, { ...ANOTHER, replaces: passwordHash })),
        ),
      );
      for (const at of stored.keys()) expect([theirs[at], ours[at]].filter(Boolean)).toHaveLength(1);
      return theirs;
    });
  });

  it('removes a user, so that the username and the email are free again', async ({ users }) => {
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

  it('removes nothing when the user is unknown', async ({ users }) => {
    const user = aUser();
    await users.add(user);
    for (const id of [aUser().id, user.username, `${user.id} `, '', '\0']) await users.remove(id);
    expect(await users.findById(user.id)).toStrictEqual(user);
  });
};
