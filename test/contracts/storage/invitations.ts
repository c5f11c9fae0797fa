import { expect } from 'vitest';
import { anInvitation, NOW } from '../../support/builders.ts';
import type { Tests } from '../suite.ts';
import { type GivenStorage, raced } from './given.ts';

const RACERS = 40;

export const invitations = ({ it }: Tests<GivenStorage>): void => {
  it('finds an invitation by its address, and by its token', async ({ invitations }) => {
    const all = [anInvitation(), anInvitation({ attributes: { roles: ['admin', 'ä\0'] } })];
    for (const each of all) await invitations.put(each);
    for (const each of all) {
      expect(await invitations.findByEmail(each.email, NOW)).toStrictEqual(each);
      expect(await invitations.findByToken(each.tokenHash, NOW)).toStrictEqual(each);
      expect(await invitations.findByEmail(each.email.toUpperCase(), NOW)).toBeNull();
      expect(await invitations.findByToken(`${each.tokenHash} `, NOW)).toBeNull();
    }
  });

  it('replaces the invitation of the same address', async ({ invitations }) => {
    const [older, another] = [anInvitation(), anInvitation()];
    const newer = anInvitation({ email: older.email });
    for (const each of [older, another, newer]) await invitations.put(each);
    expect(await invitations.findByToken(older.tokenHash, NOW)).toBeNull();
    expect(await invitations.findByEmail(older.email, NOW)).toStrictEqual(newer);
    expect(await invitations.list(NOW, 9)).toHaveLength(2);
  });

  it('takes an invitation once, also when many take it at the same time', async ({ invitations, another }) => {
    const [invitation, other] = [anInvitation(), anInvitation()];
    for (const each of [invitation, other]) await invitations.put(each);
    const take = (instance: typeof invitations) => instance.take(invitation, NOW);
    const taken = await raced([invitations, another.invitations], RACERS, take);
    expect(taken.filter((isTaken) => isTaken)).toHaveLength(1);
    expect(await invitations.list(NOW, 9)).toStrictEqual([other]);
  });

  it('does not take one that was replaced', async ({ invitations }) => {
    const older = anInvitation();
    const newer = anInvitation({ email: older.email });
    for (const each of [older, newer]) await invitations.put(each);
    expect(await invitations.take(older, NOW)).toBe(false);
    expect(await invitations.take(newer, NOW)).toBe(true);
  });

  it('neither finds, takes nor lists an invitation that has expired', async ({ invitations }) => {
    const invitation = anInvitation({ expiresAt: NOW + 1_000 });
    await invitations.put(invitation);
    const seenAt = async (now: number) => [
      await invitations.findByEmail(invitation.email, now),
      await invitations.findByToken(invitation.tokenHash, now),
      ...(await invitations.list(now, 9)),
    ];
    for (const late of [NOW + 1_000, NOW + 1_001]) {
      expect(await seenAt(late)).toEqual([null, null]);
      expect(await invitations.take(invitation, late)).toBe(false);
    }
    expect(await seenAt(NOW + 999)).toStrictEqual([invitation, invitation, invitation]);
    expect(await invitations.take(invitation, NOW + 999)).toBe(true);
  });

  it('lists the invitations in the order of their addresses', async ({ invitations }) => {
    const all = ['b', 'a', 'c'].map((name) => anInvitation({ email: `${name}@example.org` }));
    for (const each of all) await invitations.put(each);
    const [b, a, c] = all;
    expect(await invitations.list(NOW, 9)).toStrictEqual([a, b, c]);
    expect(await invitations.list(NOW, 2)).toStrictEqual([a, b]);
  });

  it('purges expired invitations, and only those', async ({ invitations }) => {
    for (const at of [0, 1, 2]) await invitations.put(anInvitation({ expiresAt: NOW + 100 - at }));
    const live = anInvitation({ expiresAt: NOW + 101 });
    await invitations.put(live);
    const purged = [];
    for (let round = 0; round < 3; round += 1) purged.push(await invitations.purge(NOW + 100, 2));
    expect(purged).toEqual([2, 1, 0]);
    expect(await invitations.list(0, 9)).toStrictEqual([live]);
  });
};
