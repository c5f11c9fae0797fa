import { expect } from 'vitest';
import { SESSIONS_PER_USER, type SessionKey } from '../../../src/domain/session.ts';
import { anId, aRotation, NOW } from '../../support/builders.ts';
import type { Tests } from '../suite.ts';
import { DEVICE, type GivenSessions, idsOf } from './store.ts';

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

  it('ends all sessions of one user, and returns their ids', async ({
    sessions,
    owner,
    otherUser,
    stored,
    storedSeries,
    listed,
  }) => {
    const [ended, ofOther] = [await storedSeries(SESSIONS_PER_USER), await stored({ userId: otherUser })];
    expect([...(await sessions.endByUser(owner, null))].sort()).toEqual(idsOf(ended).sort());
    expect(await sessions.endByUser(owner, null)).toEqual([]);
    expect(await sessions.endByUser(anId(), null)).toEqual([]);
    expect(await listed()).toEqual([]);
    for (const session of ended) expect(await sessions.rotate(aRotation(session))).toBe('stale');
    expect(await sessions.find(ofOther)).toStrictEqual(ofOther);
  });

  it('ends all sessions of one user except one', async ({
    sessions,
    owner,
    otherUser,
    stored,
    storedSeries,
    listed,
  }) => {
    const [series, ofOther] = [await storedSeries(3, DEVICE), await stored({ userId: otherUser })];
    const [first = expect.unreachable(), kept = expect.unreachable(), last = expect.unreachable()] = series;
    expect([...(await sessions.endByUser(owner, kept.id))].sort()).toEqual([first.id, last.id].sort());
    expect(await sessions.endByUser(owner, kept.id)).toEqual([]);
    expect(await sessions.listByUser(owner, NOW)).toStrictEqual([kept]);
    expect(await sessions.find(ofOther)).toStrictEqual(ofOther);

    expect(await sessions.endByUser(owner, ofOther.id)).toEqual([kept.id]);
    expect(await listed()).toEqual([]);
    expect(await sessions.find(ofOther)).toStrictEqual(ofOther);
  });

  it('says of each session once that it ended, however many end it at the same time', async (given) => {
    const { sessions, owner, storedSeries } = given;
    const series = await storedSeries(30);
    const ids = idsOf(series);
    const ended = await Promise.all([
      ...Array.from({ length: 5 }, () => sessions.endByUser(owner, null)),
      ...series.slice(0, 10).map(async (session) => ((await sessions.end(session)) ? [session.id] : [])),
    ]);
    expect(ended.flat().sort()).toEqual(ids.sort());
  });

  it('does not bring back a session that ends while it is rotated or reverted', async (given) => {
    const { sessions, owner, storedSeries } = given;
    const ends = [(session: SessionKey) => sessions.end(session), () => sessions.endByUser(owner, null)];
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

  it('loses the sessions of a user who is deleted', async ({ store, sessions, owner, otherUser, stored }) => {
    const [session, ofOther] = [await stored(), await stored({ userId: otherUser })];
    await store.deleteUser(owner);
    expect(await sessions.find(session)).toBeNull();
    expect(await sessions.rotate(aRotation(session))).toBe('stale');
    expect(await sessions.listByUser(owner, NOW)).toEqual([]);
    expect(await sessions.find(ofOther)).toStrictEqual(ofOther);
  });
};
