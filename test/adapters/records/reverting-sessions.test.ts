import { describe, expect, it, vi } from 'vitest';
import { memoryStorage } from '../../../src/adapters/records/memory.ts';
import { revertingSessions } from '../../../src/adapters/records/sessions.ts';
import type { SessionRepository } from '../../../src/application/ports/session-repository.ts';
import { AppError } from '../../../src/domain/errors/app-error.ts';
import type { Session } from '../../../src/domain/session.ts';
import { aRotation, aSession, aUser } from '../../support/builders.ts';

/** The fault of a call: none, its response is lost, or it never arrives. */
type Line = 'up' | 'answers lost' | 'down';

/** A session in a store behind a connection whose fault the test sets, and the repository under test. */
const setUp = async (change: (store: SessionRepository) => Partial<SessionRepository> = () => ({})) => {
  const { users, sessions } = memoryStorage();
  const owner = aUser();
  await users.add(owner);
  let line: Line = 'up';
  let reverts = 0;
  const carried =
    <Given extends unknown[], Answer>(call: (...given: Given) => Promise<Answer>) =>
    async (...given: Given): Promise<Answer> => {
      const lost = new AppError('DB_QUERY_FAILED', { reason: 'lost' });
      if (line === 'down') throw lost;
      const answer = await call(...given);
      if (line === 'answers lost') throw lost;
      return answer;
    };
  const revert = carried(sessions.revert);
  const store: SessionRepository = {
    ...sessions,
    rotate: carried(sessions.rotate),
    revert(rotation) {
      reverts += 1;
      return revert(rotation);
    },
  };
  const reverting = revertingSessions({ ...store, ...change(store) }, { retryInterval: 1 });
  const opened = async () => {
    const session = aSession({ userId: owner.id });
    await sessions.add(session);
    return session;
  };
  return {
    /** What is stored, whatever is known of it here. */
    stored: sessions,
    reverting,
    opened,
    session: await opened(),
    set: (next: Line) => {
      line = next;
    },
    reverts: () => reverts,
    /** Rotates the current token of a session, with the number that the store has now. */
    rotateNow: async (session: Session) =>
      reverting.rotate(aRotation((await sessions.find(session)) ?? expect.unreachable())),
  };
};
const FAILED = { code: 'DB_QUERY_FAILED' };

describe('a rotation whose outcome is unknown', () => {
  it.each(['answers lost', 'down'] as const)(
    'is reverted when the store responds again, after %s, and can no longer happen',
    async (fault) => {
      const { stored, reverting, session, set, rotateNow } = await setUp();
      const rotation = aRotation(session);
      set(fault);
      await expect(reverting.rotate(rotation)).rejects.toMatchObject(FAILED);
      set('up');
      const reverted = { currentTokenId: session.currentTokenId, rotation: 1 };
      await expect.poll(() => stored.find(session)).toMatchObject(reverted);
      expect(await stored.rotate(rotation)).toBe('stale');
      expect(await rotateNow(session)).toHaveProperty('user');
    },
  );

  it('is reverted before this process rotates or reads the session, which fails until then', async () => {
    const { reverting, session, opened, set } = await setUp();
    const other = await opened();
    set('answers lost');
    await expect(reverting.rotate(aRotation(session))).rejects.toMatchObject(FAILED);
    set('down');
    await expect(reverting.find(session)).rejects.toMatchObject(FAILED);
    await expect(reverting.rotate(aRotation(session))).rejects.toMatchObject(FAILED);
    expect(await reverting.find(other)).toStrictEqual(other);
    set('up');
    expect(await reverting.find(session)).toMatchObject({ currentTokenId: session.currentTokenId });
  });

  it('is reverted again and again until the store has confirmed it, and not afterwards', async () => {
    const { reverting, session, set, reverts } = await setUp();
    set('down');
    await expect(reverting.rotate(aRotation(session))).rejects.toMatchObject(FAILED);
    await expect.poll(reverts).toBeGreaterThan(5);
    set('up');
    await reverting.find(session);
    const before = reverts();
    await reverting.find(session);
    expect(reverts()).toBe(before);
  });

  it('is given up after a minute', async () => {
    const { reverting, session, set, reverts } = await setUp();
    set('down');
    await expect(reverting.rotate(aRotation(session))).rejects.toMatchObject(FAILED);
    const inAMinute = performance.now() + 60_000;
    const _time = vi.spyOn(performance, 'now').mockImplementation(() => inAMinute);
    await expect.poll(async () => (await reverting.find(session))?.id).toBe(session.id);
    const before = reverts();
    expect(await reverting.find(session)).toStrictEqual(session);
    expect(reverts()).toBe(before);
  });

  it('holds up no other that can be reverted', async () => {
    const stuck: string[] = [];
    const { stored, reverting, session, opened, set } = await setUp(({ revert }) => ({
      revert: (rotation) =>
        stuck.includes(rotation.sessionId) ? Promise.reject(new AppError('DB_QUERY_FAILED')) : revert(rotation),
    }));
    for (let count = 0; count < 20; count += 1) stuck.push((await opened()).id);
    set('answers lost');
    for (const id of [...stuck, session.id])
      await reverting.rotate(aRotation({ ...session, id })).catch(() => undefined);
    set('up');
    await expect.poll(() => stored.find(session)).toMatchObject({ currentTokenId: session.currentTokenId });
  });
});

it('a revert that was asked for, and failed, is tried again', async () => {
  const { stored, reverting, session, set } = await setUp();
  const rotation = aRotation(session);
  await reverting.rotate(rotation);
  set('down');
  await expect(reverting.revert(rotation)).rejects.toMatchObject(FAILED);
  set('up');
  await expect.poll(() => stored.find(session)).toMatchObject({ currentTokenId: session.currentTokenId });
});
