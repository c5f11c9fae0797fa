import { expect } from 'vitest';
import { SESSIONS_PER_USER, type Session } from '../../../src/domain/session.ts';
import { aRotation, aSession, NOW } from '../../support/builders.ts';
import type { Tests } from '../suite.ts';
import { atBoth } from '../two-instances.ts';
import { aSeries, type GivenSessions, idsOf } from './store.ts';

export const limiting = ({ it }: Tests<GivenSessions>): void => {
  it('keeps the 50 most recently used live sessions of a user', async ({
    sessions,
    otherUser,
    stored,
    storedSeries,
    listed,
  }) => {
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

  it('keeps exactly these 50 after many concurrent adds', async ({ sessions, owner, storedSeries, listed }) => {
    const before = await storedSeries(5);
    const [oldest = expect.unreachable()] = before;
    const series = aSeries(60, { userId: owner, rotatedAt: NOW + 1_000 });
    // The newest first: the time of the last use decides, not the order of arrival.
    const ended = await Promise.all(series.toReversed().map((session) => sessions.add(session)));
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

  it('keeps exactly these 50 after many adds by two instances', async ({ sessions, owner, listed, hook }) => {
    const another = await hook('another')();
    const series = aSeries(120, { userId: owner });
    const isTheirs = (_session: Session, at: number): boolean => at % 2 === 0;
    await atBoth(another, sessions, (instance) => {
      const share = series.filter((session, at) => isTheirs(session, at) === (instance === another));
      return Promise.all(share.map((session) => instance.add(session)));
    });
    expect(await listed()).toEqual(idsOf(series.slice(-SESSIONS_PER_USER).reverse()));
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
};
