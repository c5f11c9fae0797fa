import { expect } from 'vitest';
import { SESSIONS_PER_USER, type Session, type SessionKey } from '../../../src/domain/session.ts';
import { anId, aRotation, NOW } from '../../support/builders.ts';
import type { Tests } from '../suite.ts';
import { DEVICE, idsOf, raced } from './given.ts';
import { aSeries, type GivenSessions } from './given-sessions.ts';

/** In the past, whatever the clock of the store: it deletes only what has expired by that, too. */
const LONG_AGO = Date.UTC(2020, 0, 1);

const except =
  ({ id: kept }: Session) =>
  ({ id }: Session): boolean =>
    id !== kept;

export const ending = ({ it }: Tests<GivenSessions>): void => {
  it('ends a session, and returns false when there is none', async ({ sessions, owner, stored }) => {
    const [session, other] = [await stored(), await stored()];
    expect(await sessions.end(session)).toBe(true);
    expect(await sessions.end(session)).toBe(false);
    for (const id of [anId(), '', 'no id', '\0', '\ud800']) {
      expect(await sessions.end({ id, userId: owner })).toBe(false);
    }
    expect(await sessions.find(session)).toBeNull();
    expect(await sessions.find(other)).toStrictEqual(other);
  });

  it('does not end a session of another user', async ({ sessions, otherUser, stored }) => {
    const session = await stored();
    expect(await sessions.end({ id: session.id, userId: otherUser })).toBe(false);
    expect(await sessions.find(session)).toStrictEqual(session);
  });

  it('ends all sessions of one user, and returns their ids', async (given) => {
    const { sessions, owner, otherUser, stored, storedSeries, listed } = given;
    const [ended, ofOther] = [await storedSeries(SESSIONS_PER_USER), await stored({ userId: otherUser })];
    expect([...(await sessions.endByUser(owner))].sort()).toEqual(idsOf(ended).sort());
    expect(await sessions.endByUser(owner)).toEqual([]);
    expect(await sessions.endByUser(anId())).toEqual([]);
    expect(await listed()).toEqual([]);
    for (const session of ended) expect(await sessions.rotate(aRotation(session))).toBe('stale');
    expect(await sessions.find(ofOther)).toStrictEqual(ofOther);
  });

  it('ends all sessions of one user except one', async (given) => {
    const { sessions, owner, otherUser, stored, storedSeries, listed } = given;
    const [series, ofOther] = [await storedSeries(3, DEVICE), await stored({ userId: otherUser })];
    const [first = expect.unreachable(), kept = expect.unreachable(), last = expect.unreachable()] = series;
    expect([...(await sessions.endByUser(owner, except(kept)))].sort()).toEqual([first.id, last.id].sort());
    expect(await sessions.endByUser(owner, except(kept))).toEqual([]);
    expect(await sessions.listByUser(owner, NOW)).toStrictEqual([kept]);
    expect(await sessions.find(ofOther)).toStrictEqual(ofOther);

    expect(await sessions.endByUser(owner, except(ofOther))).toEqual([kept.id]);
    expect(await listed()).toEqual([]);
    expect(await sessions.find(ofOther)).toStrictEqual(ofOther);
  });

  it('says of each session once that it ended, however many end it at the same time', async (given) => {
    const { sessions, owner, storedSeries } = given;
    const series = await storedSeries(30);
    const ids = idsOf(series);
    const ended = await Promise.all([
      ...Array.from({ length: 5 }, () => sessions.endByUser(owner)),
      ...series.slice(0, 10).map(async (session) => ((await sessions.end(session)) ? [session.id] : [])),
    ]);
    expect(ended.flat().sort()).toEqual(ids.sort());
  });

  it('does not bring back a session that ends while it is rotated or reverted', async (given) => {
    const { sessions, owner, storedSeries } = given;
    const ends = [(session: SessionKey) => sessions.end(session), () => sessions.endByUser(owner)];
    for (const end of ends) {
      const series = await storedSeries(20);
      const rotations = series.map((session) => aRotation(session));
      const [coming, done] = [rotations.slice(0, 10), rotations.slice(10)];
      for (const rotation of done) expect(await sessions.rotate(rotation)).toHaveProperty('user');
      await Promise.all([
        ...coming.map((rotation) => sessions.rotate(rotation)),
        ...done.map((rotation) => sessions.revert(rotation)),
        ...series.map((session) => end(session)),
      ]);
      for (const session of series) expect(await sessions.find(session)).toBeNull();
    }
  });

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

  it('purges each session once when two instances purge', async ({ sessions, another, owner, listed }) => {
    const now = LONG_AGO;
    const series = aSeries(40, { userId: owner, expiresAt: now });
    for (const session of series) await sessions.add(session);
    const purges = await raced([sessions, another.sessions], 10, (instance) => instance.purge(now, 5));
    const rest = await sessions.purge(now, 100);
    expect(idsOf([...purges.flat(), ...rest]).sort()).toEqual(idsOf(series).sort());
    expect(Math.max(...purges.map(({ length }) => length))).toBeLessThanOrEqual(5);
    expect(await listed()).toEqual([]);
  });
};
