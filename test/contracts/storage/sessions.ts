import { expect } from 'vitest';
import { shortUserAgent } from '../../../src/domain/device.ts';
import { partWithUser, SESSIONS_PER_USER, type Session } from '../../../src/domain/session.ts';
import { anId, aRotation, aSession, NOW } from '../../support/builders.ts';
import { expectTranslated, rejection } from '../hooks.ts';
import type { Tests } from '../suite.ts';
import { DEVICE, idsOf, raced } from './given.ts';
import { aSeries, foundWithUser, type GivenSessions } from './given-sessions.ts';

export const keeping = ({ it }: Tests<GivenSessions>): void => {
  it('finds a session by its id and its user', async ({ sessions, otherUser, stored }) => {
    const fresh = await stored();
    const old = await stored({
      previousTokenId: anId(),
      createdAt: NOW - 1,
      rotatedAt: NOW + 1,
      rotation: 2 ** 40,
      burstStartedAt: NOW - 2,
      burstFirst: 2 ** 40 - 3,
      ...DEVICE,
    });
    const longest = await stored({ userAgent: shortUserAgent('x'.repeat(1_000)) });
    const ofOther = await stored({ userId: otherUser });
    for (const session of [fresh, old, longest, ofOther]) expect(await sessions.find(session)).toStrictEqual(session);
  });

  it('lists the sessions of all users in the order of their ids, after one of them', async (given) => {
    const { sessions, otherUser, stored } = given;
    const all = [await stored(), await stored({ userId: otherUser }), await stored({ expiresAt: NOW - 1 })];
    expect(await sessions.listAll(null, 9)).toStrictEqual(all);
    expect(await sessions.listAll(all[0]?.id ?? null, 1)).toStrictEqual(all.slice(1, 2));
  });

  it('does not find an unknown session, or one of another user', async ({ sessions, owner, otherUser, stored }) => {
    const session = await stored();
    for (const id of [anId(), session.userId, session.currentTokenId]) {
      expect(await sessions.find({ id, userId: owner })).toBeNull();
    }
    expect(await sessions.find({ id: session.id, userId: otherUser })).toBeNull();
    expect(await sessions.find({ id: session.id, userId: anId() })).toBeNull();
  });

  it('finds a user with a session, and without one when the user has no such session', async (given) => {
    const { user, other, sessions, stored } = given;
    const session = await stored();
    expect(await foundWithUser(sessions, session)).toStrictEqual({ user, session: partWithUser(session) });
    const rotation = aRotation(session);
    await sessions.rotate(rotation);
    expect(await foundWithUser(sessions, session)).toStrictEqual({
      user,
      session: { ...partWithUser(session), expiresAt: rotation.expiresAt },
    });
    const ofOther = { id: session.id, userId: other.id };
    expect(await foundWithUser(sessions, ofOther)).toStrictEqual({ user: other, session: null });
    await sessions.end(session);
    for (const id of [session.id, anId(), '', 'no id', '\0', '\ud800']) {
      expect(await foundWithUser(sessions, { id, userId: user.id })).toStrictEqual({ user, session: null });
    }
  });

  it('finds no user who is not stored', async ({ sessions, stored }) => {
    const { id } = await stored();
    for (const userId of [anId(), '', 'no id', '\0', '\ud800']) {
      expect(await sessions.findWithUser({ id, userId })).toBeNull();
    }
  });

  it('lists the live sessions of one user, the most recently used first', async (given) => {
    const { sessions, owner, otherUser, stored } = given;
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

  it('treats a session as expired at its expiry, and as live a millisecond before', async (given) => {
    const { sessions, owner, stored } = given;
    const session = await stored({ expiresAt: NOW + 1_000 });
    expect(idsOf(await sessions.listByUser(owner, NOW + 999))).toEqual([session.id]);
    expect(await sessions.listByUser(owner, NOW + 1_000)).toEqual([]);
    expect(await sessions.rotate(aRotation(session, { at: NOW + 1_000 }))).toBe('stale');
    expect(await sessions.rotate(aRotation(session, { at: NOW + 999 }))).toHaveProperty('user');
  });

  it('keeps the 50 most recently used live sessions of a user', async (given) => {
    const { sessions, otherUser, stored, storedSeries, listed } = given;
    const ofOther = await stored({ userId: otherUser });
    const [oldest = expect.unreachable(), second = expect.unreachable(), ...others] =
      await storedSeries(SESSIONS_PER_USER);
    await sessions.rotate(aRotation(oldest));
    const newest = await stored({ rotatedAt: NOW + 1_000 });
    const kept = [oldest, newest, ...others.reverse()];
    expect(await listed()).toEqual(idsOf(kept));
    expect(await sessions.find(second)).toBeNull();
    expect(await sessions.find(ofOther)).toStrictEqual(ofOther);
  });

  it('keeps the newest 50 of sessions that were used at the same time', async ({ stored, listed }) => {
    const series: Session[] = [];
    for (let count = 0; count < SESSIONS_PER_USER + 10; count += 1) series.push(await stored());
    expect(await listed()).toEqual(idsOf(series.slice(-SESSIONS_PER_USER).reverse()));
  });

  it('keeps exactly these 50 after many concurrent adds', async (given) => {
    const { sessions, another, owner, storedSeries, listed } = given;
    const before = await storedSeries(5);
    const [oldest = expect.unreachable()] = before;
    const series = aSeries(100, { userId: owner, rotatedAt: NOW + 1_000 });
    const newestFirst = series.toReversed();
    // The newest first: the time of the last use decides, not the order of arrival.
    const ended = await raced([sessions, another.sessions], series.length, (instance, at) =>
      instance.add(newestFirst[at] ?? expect.unreachable()),
    );
    expect(await listed()).toEqual(idsOf(series.slice(-SESSIONS_PER_USER).reverse()));
    expect(await sessions.find(oldest)).toBeNull();
    const evicted = [...before, ...series.slice(0, -SESSIONS_PER_USER)];
    expect(ended.flat().sort()).toEqual(idsOf(evicted).sort());
  });

  it('does not count expired sessions towards the 50', async ({ sessions, owner, storedSeries, listed }) => {
    await storedSeries(3, { expiresAt: NOW });
    const series = await storedSeries(SESSIONS_PER_USER - 1);
    const last = aSession({ userId: owner, rotatedAt: NOW + 1_000 });
    expect(await sessions.add(last)).toEqual([]);
    expect(await listed()).toEqual(idsOf([last, ...series.reverse()]));
  });

  it('evicts all sessions beyond the limit with the next add, however they arose, and returns their ids', async (given) => {
    const { sessions, owner, storedSeries, listed } = given;
    const soon = await storedSeries(30, { expiresAt: NOW + 1_000 });
    // By an instance whose clock is ahead, so that it counts none of those before.
    const later = await storedSeries(40, { createdAt: NOW + 1_000, rotatedAt: NOW + 1_000 });
    expect((await listed()).length).toBeLessThanOrEqual(soon.length + later.length);
    const present = await listed();
    const last = aSession({ userId: owner, rotatedAt: NOW + 2_000 });
    const ended = await sessions.add(last);
    const left = await listed();
    expect([...ended].sort()).toEqual(present.filter((id) => !left.includes(id)).sort());
    expect(left.length).toBeLessThanOrEqual(SESSIONS_PER_USER);
    expect(left.slice(0, 1 + later.length)).toEqual(idsOf([last, ...later.reverse()]));
  });

  it('rejects with DB_QUERY_FAILED alone when its store fails, and quotes nothing that is stored', async (given) => {
    const { sessions, stored, failing } = given;
    const session = await stored(DEVICE);
    const { sessions: refused } = await failing();
    const rotation = aRotation(session);
    const calls = [
      () => refused.add(aSession({ ...session, ...DEVICE })),
      () => refused.find(session),
      () => refused.findWithUser(session),
      () => refused.rotate(rotation),
      () => refused.revert(rotation),
      () => refused.useProof(session, { key: 'a key', number: 1 }),
      () => refused.bindPage(session, 'a key'),
      () => refused.bindBrowser(session, 'a key'),
      () => refused.end(session),
      () => refused.listByUser(session.userId, NOW),
      () => refused.endByUser(session.userId),
      () => refused.purge(NOW, 10),
    ];
    const secrets = [session.id, session.userId, session.currentTokenId, rotation.to, DEVICE.userAgent, DEVICE.address];
    for (const call of calls) expectTranslated(await rejection(call()), secrets);
    expect(await sessions.find(session)).toStrictEqual(session);
  });
};
