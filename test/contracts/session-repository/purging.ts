import { expect } from 'vitest';
import type { Session } from '../../../src/domain/session.ts';
import { aRotation, NOW } from '../../support/builders.ts';
import type { Tests } from '../suite.ts';
import { atBoth } from '../two-instances.ts';
import { aSeries, type GivenSessions, idsOf, type SessionStore } from './store.ts';

/** In the past, whatever the clock of the store. */
const LONG_AGO = Date.UTC(2020, 0, 1);
/** A store deletes only what has expired by its own clock, too; one that deletes by itself would do so at once. */
const timeFor = ({ expires }: SessionStore): number => (expires ? NOW : LONG_AGO);

export const purging = ({ it }: Tests<GivenSessions>): void => {
  it('purges expired sessions, and only those, and returns their keys', async ({ store, sessions, stored }) => {
    const now = timeFor(store);
    const expired: Session[] = [];
    for (const age of [0, 1, 2]) expired.push(await stored({ expiresAt: now + 1_000 - age }));
    const live = await stored({ expiresAt: now + 1_001 });

    const purged = [];
    for (let round = 0; round < 3; round += 1) purged.push(await sessions.purge(now + 1_000, 2));
    const keys = expired.reverse().map(({ id, userId }) => ({ id, userId }));
    expect(purged.map(({ length }) => length)).toEqual(store.expires ? [0, 0, 0] : [2, 1, 0]);
    expect([...purged.flat()].sort((a, b) => (a.id < b.id ? 1 : -1))).toEqual(store.expires ? [] : keys);
    const left = await Promise.all(expired.map((session) => sessions.find(session)));
    expect(left.filter((session) => session !== null)).toHaveLength(store.expires ? 3 : 0);
    expect(await sessions.find(live)).toStrictEqual(live);
  });

  it('does not find a session that expired long ago and was purged', async ({ sessions, stored }) => {
    const session = await stored({ expiresAt: LONG_AGO });
    await sessions.purge(LONG_AGO, 10);
    expect(await sessions.find(session)).toBeNull();
    expect(await sessions.rotate(aRotation(session))).toBe('stale');
  });

  it('purges those first that expired first', async ({ store, sessions, stored }) => {
    const now = timeFor(store);
    const expired = new Map<number, Session>();
    for (const age of [2, 5, 1, 4, 3]) expired.set(age, await stored({ createdAt: now - 10, expiresAt: now - age }));
    const left = async () => {
      const found = await Promise.all(
        [...expired].map(async ([age, key]) => ((await sessions.find(key)) ? [age] : [])),
      );
      return found.flat().sort();
    };
    expect(await sessions.purge(now, 2)).toHaveLength(store.expires ? 0 : 2);
    expect(await left()).toEqual(store.expires ? [1, 2, 3, 4, 5] : [1, 2, 3]);
    expect(await sessions.purge(now, 1)).toHaveLength(store.expires ? 0 : 1);
    expect(await left()).toEqual(store.expires ? [1, 2, 3, 4, 5] : [1, 2]);
  });

  it('purges a session that was rotated by its new expiry, and in that order', async ({ store, sessions, stored }) => {
    const now = timeFor(store);
    const storedUntil = (expiresAt: number) => stored({ createdAt: now - 10, rotatedAt: now - 10, expiresAt });
    const rotatedUntil = async (first: number, expiresAt: number) => {
      const session = await storedUntil(first);
      expect(await sessions.rotate(aRotation(session, { at: now - 10, expiresAt }))).toBe('rotated');
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
    const all = [0, 1, 2, 3];
    expect(rounds).toEqual(
      store.expires
        ? Array.from({ length: 5 }, () => [0, all])
        : [
            [1, [0, 1, 2]],
            [1, [0, 1]],
            [1, [0]],
            [1, []],
            [0, []],
          ],
    );
    expect(await sessions.find(live)).not.toBeNull();
  });

  it('purges each session once when two instances purge', async ({ store, sessions, owner, listed, hook }) => {
    const now = timeFor(store);
    const another = await hook('another')();
    const series = aSeries(40, { userId: owner, expiresAt: now });
    for (const session of series) await sessions.add(session);
    const purges = await atBoth(another, sessions, (instance) =>
      Promise.all(Array.from({ length: 5 }, () => instance.purge(now, 5))),
    );
    const batches = [...purges.flat(), await sessions.purge(now, 100)];
    const purged = batches.flatMap((keys) => keys.map(({ id }) => id));
    expect(purged.sort()).toEqual(store.expires ? [] : idsOf(series).sort());
    expect(Math.max(...batches.slice(0, -1).map(({ length }) => length))).toBeLessThanOrEqual(5);
    expect(await listed()).toEqual([]);
  });
};
