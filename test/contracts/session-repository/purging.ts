import { expect } from 'vitest';
import type { Session } from '../../../src/domain/session.ts';
import { aRotation } from '../../support/builders.ts';
import type { Tests } from '../suite.ts';
import { atBoth } from '../two-instances.ts';
import { aSeries, type GivenSessions, idsOf } from './store.ts';

/** In the past, whatever the clock of the store: it deletes only what has expired by that, too. */
const LONG_AGO = Date.UTC(2020, 0, 1);

export const purging = ({ it }: Tests<GivenSessions>): void => {
  it('purges expired sessions, and only those, and returns their keys', async ({ sessions, stored }) => {
    const now = LONG_AGO;
    const expired: Session[] = [];
    for (const age of [0, 1, 2]) expired.push(await stored({ expiresAt: now + 1_000 - age }));
    const live = await stored({ expiresAt: now + 1_001 });

    const purged = [];
    for (let round = 0; round < 3; round += 1) purged.push(await sessions.purge(now + 1_000, 2));
    const keys = expired.reverse().map(({ id, userId }) => ({ id, userId }));
    expect(purged.map(({ length }) => length)).toEqual([2, 1, 0]);
    expect([...purged.flat()].sort((a, b) => (a.id < b.id ? 1 : -1))).toEqual(keys);
    const left = await Promise.all(expired.map((session) => sessions.find(session)));
    expect(left.filter((session) => session !== null)).toHaveLength(0);
    expect(await sessions.find(live)).toStrictEqual(live);
  });

  it('does not find a session that expired long ago and was purged', async ({ sessions, stored }) => {
    const session = await stored({ expiresAt: LONG_AGO });
    await sessions.purge(LONG_AGO, 10);
    expect(await sessions.find(session)).toBeNull();
    expect(await sessions.rotate(aRotation(session))).toBe('stale');
  });

  it('purges those first that expired first', async ({ sessions, stored }) => {
    const now = LONG_AGO;
    const expired = new Map<number, Session>();
    for (const age of [2, 5, 1, 4, 3]) expired.set(age, await stored({ createdAt: now - 10, expiresAt: now - age }));
    const left = async () => {
      const found = await Promise.all(
        [...expired].map(async ([age, key]) => ((await sessions.find(key)) ? [age] : [])),
      );
      return found.flat().sort();
    };
    expect(await sessions.purge(now, 2)).toHaveLength(2);
    expect(await left()).toEqual([1, 2, 3]);
    expect(await sessions.purge(now, 1)).toHaveLength(1);
    expect(await left()).toEqual([1, 2]);
  });

  it('purges a session that was rotated by its new expiry, and in that order', async ({ sessions, stored }) => {
    const now = LONG_AGO;
    const storedUntil = (expiresAt: number) => stored({ createdAt: now - 10, rotatedAt: now - 10, expiresAt });
    const rotatedUntil = async (first: number, expiresAt: number) => {
      const session = await storedUntil(first);
      expect(await sessions.rotate(aRotation(session, { at: now - 10, expiresAt }))).toHaveProperty('user');
      return session;
    };
    const live = await rotatedUntil(now - 6, now + 1);
    const expired = [
      await rotatedUntil(now - 5, now - 1),
      await storedUntil(now - 2),
      await rotatedUntil(now - 1, now - 3),
      await rotatedUntil(now + 1_000, now - 4),
    ];
    /** Which of the expired ones are left. */
    const left = async () => {
      const found = await Promise.all(expired.map((session) => sessions.find(session)));
      return found.flatMap((session, index) => (session === null ? [] : [index]));
    };
    const rounds = [];
    for (let round = 0; round < 5; round += 1) rounds.push([(await sessions.purge(now, 1)).length, await left()]);
    expect(rounds).toEqual([
      [1, [0, 1, 2]],
      [1, [0, 1]],
      [1, [0]],
      [1, []],
      [0, []],
    ]);
    expect(await sessions.find(live)).not.toBeNull();
  });

  it('purges each session once when two instances purge', async ({ sessions, owner, listed, hook }) => {
    const now = LONG_AGO;
    const another = await hook('another')();
    const series = aSeries(40, { userId: owner, expiresAt: now });
    for (const session of series) await sessions.add(session);
    const purges = await atBoth(another, sessions, (instance) =>
      Promise.all(Array.from({ length: 5 }, () => instance.purge(now, 5))),
    );
    const batches = [...purges.flat(), await sessions.purge(now, 100)];
    const purged = batches.flatMap((keys) => keys.map(({ id }) => id));
    expect(purged.sort()).toEqual(idsOf(series).sort());
    expect(Math.max(...batches.slice(0, -1).map(({ length }) => length))).toBeLessThanOrEqual(5);
    expect(await listed()).toEqual([]);
  });
};
