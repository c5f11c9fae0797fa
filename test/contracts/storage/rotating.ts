// Proves member-2
import { expect } from 'vitest';
import { authenticatedBy } from '../../../src/domain/assurance.ts';
import { rotated } from '../../../src/domain/session.ts';
import { anId, aRotation, NOW } from '../../support/builders.ts';
import { outcomeOf } from '../../support/rotation/outcome.ts';
import type { Tests } from '../suite.ts';
import { atBoth, untilClose } from '../two-instances.ts';
import { raced } from './given.ts';
import { type GivenSessions, inTokens, outcomeInTokens } from './given-sessions.ts';

const RACERS = 50;

export const rotating = ({ it }: Tests<GivenSessions>): void => {
  it('rotates a session by its current token', async ({ sessions, stored }) => {
    const [session, other] = [await stored(), await stored()];
    const first = aRotation(session);
    expect(await sessions.rotate(first)).toHaveProperty('user');
    const once = {
      ...session,
      currentTokenId: first.to,
      previousTokenId: first.from,
      rotatedAt: first.at,
      rotation: 1,
      burstStartedAt: first.at,
      burstFirst: 0,
      expiresAt: first.expiresAt,
    };
    expect(await sessions.find(session)).toStrictEqual(once);

    const second = aRotation(once);
    expect(await sessions.rotate(second)).toHaveProperty('user');
    expect(await sessions.find(session)).toMatchObject({ currentTokenId: second.to, previousTokenId: first.to });
    expect(await sessions.find(other)).toStrictEqual(other);
  });

  it('returns the session that it rotates, with its user', async (given) => {
    const { sessions, stored } = given;
    for (const [at, user] of [given.user, given.other].entries()) {
      const authenticated = authenticatedBy([
        { method: 'password', at: NOW - 2 },
        { method: at === 0 ? 'password' : 'totp', at: NOW - at },
      ]);
      const session = await stored({ userId: user.id, ...authenticated });
      const rotation = aRotation(session);
      const keys = { deviceKey: null, browserKey: null };
      const expected = { user: inTokens(user), expiresAt: rotation.expiresAt, ...keys, ...authenticated };
      expect(outcomeInTokens(await sessions.rotate(rotation))).toStrictEqual(expected);
    }
  });

  it('ends a session at its greatest age, however often it is rotated', async ({ sessions, stored }) => {
    const session = await stored();
    const maxAge = 2 * (session.expiresAt - session.authenticatedAt);
    const end = session.authenticatedAt + maxAge;
    const first = aRotation(session, { maxAge });
    expect(await sessions.rotate(first)).toMatchObject({ expiresAt: first.expiresAt });
    const rotated = (await sessions.find(session)) ?? expect.unreachable();
    const second = aRotation(rotated, { at: rotated.expiresAt - 1, expiresAt: end + 1, maxAge });
    expect(await sessions.rotate(second)).toMatchObject({ expiresAt: end });
    const last = (await sessions.find(session)) ?? expect.unreachable();
    expect(last.expiresAt).toBe(end);
    const third = { at: end - 1, expiresAt: end + 100_000, maxAge };
    expect(await sessions.rotate(aRotation(last, { ...third, maxAge: maxAge - 1 }))).toBe('stale');
    expect(await sessions.rotate(aRotation(last, third))).toMatchObject({ expiresAt: end });
    const late = (await sessions.find(session)) ?? expect.unreachable();
    expect(await sessions.rotate(aRotation(late, { ...third, at: end }))).toBe('stale');
  });

  it('remembers how and when its user has authenticated, also after a rotation', async (given) => {
    const { sessions, stored, otherUser } = given;
    const session = await stored();
    const raised = authenticatedBy([{ method: 'totp', at: NOW + 7 }], session);
    for (const key of [
      { id: session.id, userId: otherUser },
      { id: anId(), userId: session.userId },
    ]) {
      expect(await sessions.update(key, raised)).toBe(false);
    }
    expect(await sessions.find(session)).toStrictEqual(session);
    expect(await sessions.update(session, raised)).toBe(true);
    expect(await sessions.find(session)).toStrictEqual({ ...session, ...raised });
    expect(await sessions.rotate(aRotation(session))).toMatchObject(raised);
    expect(await sessions.find(session)).toMatchObject(raised);
    expect((await sessions.findWithUser(session))?.session).toMatchObject(raised);
    const ofNothing = await stored({ amr: [] });
    expect(await sessions.find(ofNothing)).toStrictEqual(ofNothing);
  });

  it('numbers the current token one higher than the last, also after a rotation that was reverted', async (given) => {
    const { sessions, stored, rotateOn } = given;
    const session = await rotateOn(await stored(), 3, { continuesBurst: true });
    expect(session).toMatchObject({ rotation: 3 });
    const rotation = aRotation(session);
    await sessions.rotate(rotation);
    await sessions.revert(rotation);
    expect(await sessions.rotate({ ...rotation, to: anId(), expectedNumber: 4 })).toHaveProperty('user');
    expect(await sessions.find(session)).toMatchObject({ rotation: 5 });
  });

  it('remembers when the burst of rotations began, and with which number', async ({ sessions, stored, rotateOn }) => {
    const session = await stored();
    const first = await rotateOn(session, 2, { continuesBurst: true });
    expect(first).toMatchObject({ burstStartedAt: session.rotatedAt + 1_000, burstFirst: 0 });
    expect(await sessions.find(session)).toStrictEqual(first);
    const second = await rotateOn(first, 1, { continuesBurst: false });
    expect(second).toMatchObject({ burstStartedAt: second.rotatedAt, burstFirst: 2 });
    expect(await sessions.find(session)).toStrictEqual(second);
    const continued = await rotateOn(second, 2, { continuesBurst: true });
    expect(continued).toMatchObject({ burstStartedAt: second.rotatedAt, burstFirst: 2 });
    expect(await sessions.find(session)).toStrictEqual(continued);
  });

  it('changes nothing when another token is current, or has another number', async (given) => {
    const { sessions, otherUser, stored } = given;
    const session = await stored();
    const rotation = aRotation(session);
    await sessions.rotate(rotation);
    const now = await sessions.find(session);
    expect(await sessions.rotate(rotation)).toBe('stale');
    const next = { from: rotation.to, number: 1 };
    for (const wrong of [{ from: anId() }, { sessionId: anId() }, { userId: otherUser }, { number: 0 }, { number: 2 }])
      expect(await sessions.rotate(aRotation(session, { ...next, ...wrong }))).toBe('stale');
    expect(await sessions.find(session)).toStrictEqual(now);
  });

  it('does not rotate a session that has expired or was ended', async ({ sessions, stored }) => {
    const [expired, last, ended] = [await stored(), await stored(), await stored()];
    expect(await sessions.rotate(aRotation(expired, { at: expired.expiresAt }))).toBe('stale');
    expect((await sessions.find(expired))?.currentTokenId ?? expired.currentTokenId).toBe(expired.currentTokenId);
    expect(await sessions.rotate(aRotation(last, { at: last.expiresAt - 1 }))).toHaveProperty('user');
    await sessions.end(ended);
    expect(await sessions.rotate(aRotation(ended))).toBe('stale');
    expect(await sessions.find(ended)).toBeNull();
  });

  it('accepts exactly one of many concurrent rotations of the same token', async ({ sessions, another, stored }) => {
    const session = await stored();
    const rotations = Array.from({ length: RACERS }, () => aRotation(session));
    const outcomes = await raced([sessions, another.sessions], RACERS, (instance, at) =>
      instance.rotate(rotations[at] ?? expect.unreachable()),
    );
    const winners = rotations.filter((_, at) => outcomeOf(outcomes[at] ?? 'stale') === 'rotated');
    expect(winners).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome === 'stale')).toHaveLength(RACERS - 1);
    expect(await sessions.find(session)).toMatchObject({
      currentTokenId: winners[0]?.to,
      previousTokenId: session.currentTokenId,
    });
  });

  it('accepts exactly one of two rotations of the same token by two instances', async (given) => {
    const { sessions, owner, storedSeries, anotherOf } = given;
    const another = (await anotherOf()).sessions;
    await untilClose(async () => {
      const series = await storedSeries(40);
      const [theirs, ours] = await atBoth(another, sessions, (instance) =>
        Promise.all(series.map(async (session) => outcomeOf(await instance.rotate(aRotation(session))))),
      );
      const pairs = series.map((_, at) => [theirs[at], ours[at]].sort());
      expect(pairs).toEqual(series.map(() => ['rotated', 'stale']));
      await sessions.endByUser(owner);
      return theirs.map((outcome) => outcome === 'rotated');
    });
  });

  it('accepts exactly one of two rotations that wait for the store', async ({ sessions, stored, held, anotherOf }) => {
    const { hold, release } = await held();
    const instances = [(await anotherOf()).sessions, (await anotherOf()).sessions];
    for (let round = 0; round < 3; round += 1) {
      const session = await stored();
      await hold();
      const rotations = instances.map((instance) => instance.rotate(aRotation(session)));
      await release();
      expect((await Promise.all(rotations)).map(outcomeOf).sort()).toEqual(['rotated', 'stale']);
      expect(await sessions.find(session)).toMatchObject({ previousTokenId: session.currentTokenId });
    }
  });

  it('rotates a session of which it has lost rotations, and reverts such a rotation to the rotated token', async (given) => {
    const { sessions, stored, rotateOn } = given;
    const session = await rotateOn(await stored(), 2, { continuesBurst: true });
    const known = aRotation(session).from;
    const recovery = { ...aRotation(session), from: anId(), number: 7 };
    expect(await sessions.rotate({ ...recovery, expected: recovery.from, expectedNumber: 7 })).toBe('stale');
    expect(await sessions.rotate(recovery)).toHaveProperty('user');
    expect(await sessions.find(session)).toMatchObject({
      currentTokenId: recovery.to,
      previousTokenId: recovery.from,
      rotation: 8,
      burstStartedAt: recovery.at,
      burstFirst: session.rotation,
    });
    await sessions.revert(recovery);
    expect(await sessions.find(session)).toMatchObject({ currentTokenId: recovery.from, rotation: 8 });
    await sessions.revert({ ...recovery, expected: known });
    expect(await sessions.find(session)).toMatchObject({ currentTokenId: recovery.from, rotation: 8 });
  });
};

export const reverting = ({ it }: Tests<GivenSessions>): void => {
  it('reverts a rotation, so that the rotated token is current again', async ({ sessions, stored }) => {
    const [session, other] = [await stored({ previousTokenId: anId() }), await stored()];
    const rotation = aRotation(session);
    await sessions.rotate(rotation);
    await sessions.revert(rotation);
    await sessions.revert(rotation);
    const before = (await sessions.find(session)) ?? expect.unreachable();
    expect(before).toMatchObject({ currentTokenId: session.currentTokenId });
    expect(await sessions.rotate(aRotation(before, { from: rotation.to }))).toBe('stale');
    expect(await sessions.rotate(aRotation(before))).toHaveProperty('user');
    expect(await sessions.find(other)).toStrictEqual(other);
  });

  it('changes the current token alone when a rotation is reverted', async ({ sessions, stored, rotateOn }) => {
    const session = await rotateOn(await stored(), 3, { continuesBurst: true });
    const rotation = aRotation(session);
    await sessions.rotate(rotation);
    const after = rotated(session, rotation) ?? expect.unreachable();
    await sessions.revert(rotation);
    const reverted = { ...after, currentTokenId: session.currentTokenId };
    expect(await sessions.find(session)).toStrictEqual(reverted);
    await sessions.revert({ ...rotation, at: rotation.at + 1, expiresAt: rotation.expiresAt + 1 });
    expect(await sessions.find(session)).toStrictEqual(reverted);
  });

  it('begins the burst again when its first rotation was reverted', async ({ sessions, stored, rotateOn }) => {
    const session = await rotateOn(await stored(), 1, { continuesBurst: true });
    const first = aRotation(session, { continuesBurst: false });
    await sessions.rotate(first);
    await sessions.revert(first);
    const again = aRotation(session, { at: first.at + 1, continuesBurst: true, expectedNumber: first.number + 1 });
    await sessions.rotate(again);
    expect(await sessions.find(session)).toMatchObject({ burstStartedAt: again.at, burstFirst: again.number });
  });

  it('does not revert a rotation that was followed by another', async ({ sessions, stored }) => {
    const session = await stored();
    const first = aRotation(session);
    await sessions.rotate(first);
    expect(await sessions.rotate(aRotation(session, { from: first.to, number: 1 }))).toHaveProperty('user');
    const now = await sessions.find(session);
    await sessions.revert(first);
    expect(await sessions.find(session)).toStrictEqual(now);
  });

  it('either reverts a rotation or accepts the next one, when both are asked for at the same time', async (given) => {
    const { sessions, storedSeries } = given;
    const pairs = (await storedSeries(20)).map((session) => {
      const first = aRotation(session);
      return { session, first, next: aRotation(session, { from: first.to, number: 1 }) };
    });
    for (const { first } of pairs) expect(await sessions.rotate(first)).toHaveProperty('user');
    const outcomes = await Promise.all(
      pairs.map(async ({ first, next }) => (await Promise.all([sessions.rotate(next), sessions.revert(first)]))[0]),
    );
    for (const [at, { session, first, next }] of pairs.entries()) {
      const currentTokenId = typeof outcomes[at] === 'object' ? next.to : first.from;
      expect(await sessions.find(session)).toMatchObject({ currentTokenId });
    }
  });

  it('never performs a rotation that was reverted before it happened', async ({ sessions, stored, rotateOn }) => {
    const session = await rotateOn(await stored(), 3, { continuesBurst: true });
    const [late, later] = [aRotation(session), aRotation(session)];
    await sessions.revert(late);
    expect(await sessions.rotate(late)).toBe('stale');
    expect(await sessions.rotate(later)).toBe('stale');
    const before = { ...session, previousTokenId: session.currentTokenId, rotation: 4 };
    expect(await sessions.find(session)).toStrictEqual(before);
    await sessions.revert(later);
    await sessions.revert(late);
    expect(await sessions.find(session)).toStrictEqual(before);

    const next = aRotation(session, { expectedNumber: 4 });
    expect(await sessions.rotate(next)).toHaveProperty('user');
    await sessions.revert(late);
    expect(await sessions.find(session)).toMatchObject({ currentTokenId: next.to, rotation: 5, burstFirst: 3 });
  });

  it('reverts nothing in a session that was ended, or whose token is another', async (given) => {
    const { sessions, otherUser, stored } = given;
    const [ended, lost] = [await stored(), await stored({ previousTokenId: anId() })];
    const rotation = aRotation(ended);
    await sessions.rotate(rotation);
    await sessions.end(ended);
    await sessions.revert(rotation);
    expect(await sessions.find(ended)).toBeNull();

    await sessions.revert(aRotation(lost, { from: anId() }));
    await sessions.revert(aRotation(lost, { userId: otherUser, to: lost.currentTokenId }));
    expect(await sessions.find(lost)).toStrictEqual(lost);
  });
};
