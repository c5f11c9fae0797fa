import { expect } from 'vitest';
import { EMAIL_MAX_LENGTH, USERNAME_MAX_LENGTH } from '../../../src/domain/user.ts';
import { aUser } from '../../support/builders.ts';
import type { Tests } from '../suite.ts';
import { atBoth, untilClose } from '../two-instances.ts';
import { alternated, DUPLICATE, duplicate, type GivenUsers } from './store.ts';

const RACERS = 50;

export const adding = ({ it }: Tests<GivenUsers>): void => {
  it('rejects a second user with the same username, in any letter case, and names it', async ({ users }) => {
    const user = aUser();
    await users.add(user);
    for (const username of [user.username, alternated(user.username)]) {
      await expect(users.add(aUser({ username }))).rejects.toMatchObject(duplicate('username'));
    }
  });

  it('rejects a second user with the same email, in any letter case, and names it', async ({ users }) => {
    const user = aUser();
    await users.add(user);
    for (const email of [user.email, alternated(user.email)]) {
      await expect(users.add(aUser({ email }))).rejects.toMatchObject(duplicate('email'));
    }
  });

  it('rejects a second user with the same id', async ({ users }) => {
    const user = aUser();
    await users.add(user);
    await expect(users.add(aUser({ id: user.id }))).rejects.toMatchObject({
      name: 'AppError',
      code: 'DB_UNIQUE_VIOLATION',
    });
    expect(await users.findById(user.id)).toStrictEqual(user);
  });

  it('distinguishes names that only resemble each other', async ({ users }) => {
    const names = ['some.person', 'some_person', 'some-person', 's_%'];
    const alike = names.map((username) => aUser({ username, email: `${username}@example.org` }));
    for (const user of alike) await expect(users.add(user)).resolves.toBeUndefined();
    for (const user of alike) {
      expect(await users.findByUsername(user.username)).toStrictEqual(user);
      expect(await users.findByEmail(user.email)).toStrictEqual(user);
    }
  });

  it('stores names of the greatest length, and distinguishes them by their last character', async ({ users }) => {
    const domain = [63, 63, 60].map((length) => 'd'.repeat(length)).join('.');
    const long = ['x', 'y'].map((last) =>
      aUser({
        username: `${'u'.repeat(USERNAME_MAX_LENGTH - 1)}${last}`,
        email: `${'l'.repeat(64)}@${domain}${last}`,
      }),
    );
    for (const user of long) {
      expect(user.email).toHaveLength(EMAIL_MAX_LENGTH);
      await expect(users.add(user)).resolves.toBeUndefined();
    }
    for (const user of long) {
      expect(await users.findByUsername(user.username)).toStrictEqual(user);
      expect(await users.findByEmail(user.email)).toStrictEqual(user);
    }
  });

  it('stores nothing of a rejected user', async ({ users }) => {
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

  it('accepts exactly one of many concurrent adds with the same username', async ({ users }) => {
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

  it('accepts exactly one of two adds with the same username or email by two instances', async ({ users, hook }) => {
    const another = await hook('another')();
    for (const same of ['username', 'email'] as const) {
      await untilClose(async () => {
        const names = Array.from({ length: 40 }, () => aUser()[same]);
        const [theirs, ours] = await atBoth(another, users, (instance) =>
          Promise.allSettled(names.map((name) => instance.add(aUser({ [same]: name })))),
        );
        for (const at of names.keys()) {
          const outcomes = [theirs[at], ours[at]];
          expect(outcomes.filter((outcome) => outcome?.status === 'fulfilled')).toHaveLength(1);
          const rejected = outcomes.find((outcome) => outcome?.status === 'rejected');
          expect(rejected).toMatchObject({ reason: DUPLICATE });
        }
        return theirs.map(({ status }) => status === 'fulfilled');
      });
    }
  });
};
