import { expect } from 'vitest';
import { rotated } from '../../../src/domain/session.ts';
import { anId, aRotation } from '../../support/builders.ts';
import type { Tests } from '../suite.ts';
import type { GivenSessions } from './store.ts';

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
