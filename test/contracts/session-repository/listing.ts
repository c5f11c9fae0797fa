import { expect } from 'vitest';
import { anId, aRotation, NOW } from '../../support/builders.ts';
import type { Tests } from '../suite.ts';
import { DEVICE, type GivenSessions, idsOf } from './store.ts';

export const listing = ({ it }: Tests<GivenSessions>): void => {
  it('lists the live sessions of one user, the most recently used first', async ({
    sessions,
    owner,
    otherUser,
    stored,
  }) => {
    const [first, second] = [await stored(DEVICE), await stored({ rotatedAt: NOW + 2 })];
    const third = await stored({ rotatedAt: NOW + 2 });
    await stored({ userId: otherUser });
    await stored({ expiresAt: NOW + 1_000 });
    expect(await sessions.listByUser(owner, NOW + 1_000)).toStrictEqual([third, second, first]);
    expect(await sessions.listByUser(anId(), NOW)).toEqual([]);

    const rotation = aRotation(first);
    await sessions.rotate(rotation);
    expect(idsOf(await sessions.listByUser(owner, NOW + 1_000))).toEqual([first.id, third.id, second.id]);
    await sessions.end(third);
    expect(idsOf(await sessions.listByUser(owner, NOW + 1_000))).toEqual([first.id, second.id]);
  });

  it('treats a session as expired at its expiry, and as live a millisecond before', async ({
    sessions,
    owner,
    stored,
  }) => {
    const session = await stored({ expiresAt: NOW + 1_000 });
    expect(idsOf(await sessions.listByUser(owner, NOW + 999))).toEqual([session.id]);
    expect(await sessions.listByUser(owner, NOW + 1_000)).toEqual([]);
    expect(await sessions.rotate(aRotation(session, { at: NOW + 1_000 }))).toBe('stale');
    expect(await sessions.rotate(aRotation(session, { at: NOW + 999 }))).toHaveProperty('user');
  });
};
