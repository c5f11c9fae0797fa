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
    expect(await sessions.find(session)).toMatchObject({ currentTokenId: session.currentTokenId });
    expect(await sessions.rotate(aRotation(session, { from: rotation.to }))).toBe('stale');
    expect(await sessions.rotate(aRotation(session))).toHaveProperty('id');
    expect(await sessions.find(other)).toStrictEqual(other);
  });

  it('changes the current token alone when a rotation is reverted', async ({ sessions, stored, rotateOn }) => {
    const session = await rotateOn(await stored(), 3, { continuesRun: true });
    const rotation = aRotation(session);
    await sessions.rotate(rotation);
    const after = rotated(session, rotation) ?? expect.unreachable();
    await sessions.revert(rotation);
    const reverted = { ...after, currentTokenId: session.currentTokenId };
    expect(await sessions.find(session)).toStrictEqual(reverted);
    await sessions.revert({ ...rotation, at: rotation.at + 1, expiresAt: rotation.expiresAt + 1 });
    expect(await sessions.find(session)).toStrictEqual(reverted);
  });

  it('begins the run again when its first rotation was reverted', async ({ sessions, stored, rotateOn }) => {
    const session = await rotateOn(await stored(), 1, { continuesRun: true });
    const first = aRotation(session, { continuesRun: false });
    await sessions.rotate(first);
    await sessions.revert(first);
    const again = aRotation(session, { at: first.at + 1, continuesRun: true });
    await sessions.rotate(again);
    expect(await sessions.find(session)).toMatchObject({ runStartedAt: again.at, runFirst: again.number });
  });

  it('does not revert a rotation that was followed by another', async ({ sessions, stored }) => {
    const session = await stored();
    const first = aRotation(session);
    await sessions.rotate(first);
    await sessions.rotate(aRotation(session, { from: first.to }));
    const now = await sessions.find(session);
    await sessions.revert(first);
    expect(await sessions.find(session)).toStrictEqual(now);
  });

  it('either reverts a rotation or accepts the next one, when both are asked for at the same time', async (given) => {
    const { sessions, storedSeries } = given;
    const pairs = (await storedSeries(20)).map((session) => {
      const first = aRotation(session);
      return { session, first, next: aRotation(session, { from: first.to }) };
    });
    for (const { first } of pairs) expect(await sessions.rotate(first)).toHaveProperty('id');
    const outcomes = await Promise.all(
      pairs.map(async ({ first, next }) => (await Promise.all([sessions.rotate(next), sessions.revert(first)]))[0]),
    );
    for (const [at, { session, first, next }] of pairs.entries()) {
      const currentTokenId = typeof outcomes[at] === 'object' ? next.to : first.from;
      expect(await sessions.find(session)).toMatchObject({ currentTokenId });
    }
  });

  it('reverts nothing in a session that was ended or never rotated', async ({ sessions, otherUser, stored }) => {
    const [ended, fresh, lost] = [await stored(), await stored(), await stored({ previousTokenId: anId() })];
    const rotation = aRotation(ended);
    await sessions.rotate(rotation);
    await sessions.end(ended);
    await sessions.revert(rotation);
    expect(await sessions.find(ended)).toBeNull();

    await sessions.revert(aRotation(fresh));
    expect(await sessions.find(fresh)).toStrictEqual(fresh);

    await sessions.revert(aRotation(lost, { from: anId() }));
    await sessions.revert(aRotation(lost, { userId: otherUser, from: anId(), to: lost.currentTokenId }));
    expect(await sessions.find(lost)).toStrictEqual(lost);
  });
};
