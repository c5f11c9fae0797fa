import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { memoryStorage } from '../../../src/adapters/records/memory.ts';
import { NotExecutedError } from '../../../src/adapters/records/not-executed.ts';
import { recoveringSessionRepository, rotationBudget } from '../../../src/adapters/records/rotation-recovery.ts';
import type { SessionRepository } from '../../../src/application/ports/session-repository.ts';
import { AppError } from '../../../src/domain/errors/app-error.ts';
import type { Session } from '../../../src/domain/session.ts';
import { aRotation, aSession, aUser } from '../../support/builders.ts';

const BUDGET = 5_000;
const INTERVAL = 250;
const UNCONFIRMED = { code: 'DB_QUERY_FAILED', reason: 'an earlier rotation of the session is unconfirmed' };

/** The fault of a call: none, its response is lost, it has no response, or it never arrives. */
type Line = 'up' | 'answers lost' | 'silent' | 'down';

/** A store behind a connection whose fault the test sets. */
const overLine = (store: SessionRepository) => {
  let line: Line = 'up';
  const carried =
    <Given extends unknown[], Answer>(call: (...given: Given) => Promise<Answer>) =>
    async (...given: Given): Promise<Answer> => {
      const lost = new AppError('DB_QUERY_FAILED', { reason: 'the answer was lost' });
      if (line === 'down') throw lost;
      const answer = await call(...given);
      if (line === 'answers lost') throw lost;
      return line === 'silent' ? new Promise<never>(() => undefined) : answer;
    };
  const revert = vi.fn(carried(store.revert));
  return {
    sessions: { ...store, rotate: carried(store.rotate), revert },
    reverts: () => revert.mock.calls.length,
    set: (next: Line) => {
      line = next;
    },
  };
};

const OWNER = aUser();

/** Sessions in memory, of one user. */
const openStore = async (): Promise<SessionRepository> => {
  const { users, sessions } = memoryStorage();
  await users.add(OWNER);
  return sessions;
};

/** A session in a store behind such a connection, and the repository under test. */
const setUp = async (options: { capacity?: number } = {}) => {
  const store = await openStore();
  const { sessions, ...line } = overLine(store);
  const recovering = recoveringSessionRepository(sessions, {
    answerBudget: BUDGET,
    retryInterval: INTERVAL,
    ...options,
  });
  const opened = async () => {
    const session = aSession({ userId: OWNER.id });
    await recovering.add(session);
    return session;
  };
  /** Rotates the current token of a session, with the number that the store has now. */
  const rotateNow = async (session: Session) =>
    recovering.rotate(aRotation((await store.find(session)) ?? expect.unreachable()));
  return { store, line, recovering, opened, rotateNow, session: await opened() };
};

it.each([
  [30_000, 5_500],
  [1_000, 500],
])('where requests have %i ms, a store has %i ms to answer a rotation', (requestTimeout, budget) => {
  expect(rotationBudget(requestTimeout)).toBe(budget);
});

describe('recoveringSessionRepository', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout', 'setImmediate', 'clearImmediate'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });
  /** Resolves when the rotations that are unconfirmed now were reverted. */
  const settle = () => vi.advanceTimersByTimeAsync(INTERVAL);

  it('makes the old token current again when the response to its rotation was lost', async () => {
    const { store, line, recovering, rotateNow, session } = await setUp();
    const rotation = aRotation(session);
    line.set('answers lost');
    await expect(recovering.rotate(rotation)).rejects.toMatchObject({ reason: 'the answer was lost' });
    expect(await store.find(session)).toMatchObject({ currentTokenId: rotation.to });

    line.set('up');
    await settle();
    expect(await recovering.rotate(aRotation(session, { from: rotation.to, number: 1 }))).toBe('stale');
    expect(await rotateNow(session)).toHaveProperty('user');
  });

  it('fails when a rotation has no response in time, and reverts it', async () => {
    const { line, recovering, rotateNow, session } = await setUp();
    line.set('silent');
    const failure = expect(recovering.rotate(aRotation(session))).rejects.toMatchObject({
      code: 'DB_QUERY_FAILED',
      reason: 'the session store does not respond',
    });
    // Advances in steps of 50 ms, each of which also waits for one turn of the event loop.
    await vi.advanceTimersByTimeAsync(BUDGET + BUDGET / 50);
    await failure;
    line.set('up');
    await vi.advanceTimersByTimeAsync(BUDGET + INTERVAL);
    expect(await rotateNow(session)).toHaveProperty('user');
  });

  it('reverts at once when the store responds, and then the rotation no longer happens', async () => {
    const { store, line, recovering, rotateNow, session } = await setUp();
    const rotation = aRotation(session);
    line.set('down');
    await expect(recovering.rotate(rotation)).rejects.toThrow();
    line.set('up');
    await vi.advanceTimersByTimeAsync(0);
    expect(line.reverts()).toBe(1);
    expect(await store.rotate(rotation)).toBe('stale');
    expect(await rotateNow(session)).toHaveProperty('user');
  });

  it('rejects an early retry with DB_QUERY_FAILED, without a call to the store', async () => {
    const { store, line, recovering, session, opened } = await setUp();
    const other = await opened();
    line.set('answers lost');
    await expect(recovering.rotate(aRotation(session))).rejects.toThrow();
    line.set('up');
    const before = await store.find(session);
    await expect(recovering.rotate(aRotation(session))).rejects.toMatchObject(UNCONFIRMED);
    expect(await store.find(session)).toStrictEqual(before);
    expect(await recovering.rotate(aRotation(other))).toHaveProperty('user');
  });

  it('rejects find while a rotation is unconfirmed, so that no token is issued that is about to be reverted', async () => {
    const { line, recovering, session, opened } = await setUp();
    const other = await opened();
    line.set('answers lost');
    await expect(recovering.rotate(aRotation(session))).rejects.toThrow();
    line.set('up');
    await expect(recovering.find(session)).rejects.toMatchObject(UNCONFIRMED);
    expect(await recovering.find(other)).toStrictEqual(other);
    await settle();
    expect(await recovering.find(session)).toMatchObject({ currentTokenId: session.currentTokenId });
  });

  it('neither reverts a rotation that was not executed, nor makes its session wait', async () => {
    const { store, session } = await setUp();
    const refusals = [new NotExecutedError({ reason: 'refused' })];
    const rotate: SessionRepository['rotate'] = async (rotation) => {
      const refusal = refusals.pop();
      if (refusal !== undefined) throw refusal;
      return store.rotate(rotation);
    };
    const recovering = recoveringSessionRepository(
      { ...store, rotate },
      { answerBudget: BUDGET, retryInterval: INTERVAL },
    );
    await expect(recovering.rotate(aRotation(session))).rejects.toMatchObject({ reason: 'refused' });
    expect(vi.getTimerCount()).toBe(0);
    expect(await recovering.rotate(aRotation(session))).toHaveProperty('user');
  });

  it.each(['down', 'silent'] as const)('retries until the store responds when it is %s', async (broken) => {
    const { line, recovering, rotateNow, session } = await setUp();
    line.set('answers lost');
    await expect(recovering.rotate(aRotation(session))).rejects.toThrow();
    line.set(broken);
    await vi.advanceTimersByTimeAsync(60_000);
    await expect(recovering.rotate(aRotation(session))).rejects.toMatchObject(UNCONFIRMED);
    expect(line.reverts()).toBeGreaterThan(5);

    line.set('up');
    await vi.advanceTimersByTimeAsync(BUDGET + INTERVAL);
    expect(await rotateNow(session)).toHaveProperty('user');
    const reverts = line.reverts();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(line.reverts()).toBe(reverts);
  });

  it('reverts whichever of several rotations succeeded', async () => {
    const { line, recovering, rotateNow, session } = await setUp();
    line.set('answers lost');
    const outcomes = await Promise.allSettled(Array.from({ length: 5 }, () => recovering.rotate(aRotation(session))));
    expect(outcomes.map(({ status }) => status)).toEqual(Array(5).fill('rejected'));
    line.set('up');
    await settle();
    expect(await rotateNow(session)).toHaveProperty('user');
  });

  it('does not change a session that another instance has rotated since', async () => {
    const { store, line, recovering, session } = await setUp();
    line.set('down');
    await expect(recovering.rotate(aRotation(session))).rejects.toThrow();
    await store.rotate(aRotation(session));
    const now = await store.find(session);
    line.set('up');
    await settle();
    expect(await store.find(session)).toStrictEqual(now);
  });

  it('is not blocked by a session that cannot be reverted', async () => {
    const store = await openStore();
    const { sessions, set } = overLine(store);
    const [stuck, session] = [aSession({ userId: OWNER.id }), aSession({ userId: OWNER.id })];
    const revert: SessionRepository['revert'] = async (rotation) => {
      if (rotation.sessionId === stuck.id) throw new AppError('DB_QUERY_FAILED');
      await store.revert(rotation);
    };
    const recovering = recoveringSessionRepository(
      { ...sessions, revert },
      { answerBudget: BUDGET, retryInterval: INTERVAL },
    );
    for (const one of [stuck, session]) await recovering.add(one);
    set('answers lost');
    for (const one of [stuck, session]) await expect(recovering.rotate(aRotation(one))).rejects.toThrow();
    set('up');
    await vi.advanceTimersByTimeAsync(3 * INTERVAL);
    expect(await recovering.rotate(aRotation(session, { expectedNumber: 1 }))).toHaveProperty('user');
    await expect(recovering.rotate(aRotation(stuck))).rejects.toMatchObject(UNCONFIRMED);
  });

  it('retries a requested revert that failed', async () => {
    const { line, recovering, rotateNow, session } = await setUp();
    const rotation = aRotation(session);
    await recovering.rotate(rotation);
    line.set('down');
    await expect(recovering.revert(rotation)).rejects.toMatchObject({ code: 'DB_QUERY_FAILED' });
    line.set('up');
    await vi.advanceTimersByTimeAsync(INTERVAL);
    expect(await rotateNow(session)).toHaveProperty('user');
  });

  it('keeps a bounded number of unconfirmed rotations, and drops the oldest', async () => {
    const { line, recovering, rotateNow, opened, session: oldest } = await setUp({ capacity: 2 });
    const sessions = [oldest, await opened(), await opened()];
    line.set('answers lost');
    for (const session of sessions) await expect(recovering.rotate(aRotation(session))).rejects.toThrow();
    line.set('up');
    await settle();
    expect(await recovering.rotate(aRotation(oldest))).toBe('stale');
    for (const session of sessions.slice(1)) expect(await rotateNow(session)).toHaveProperty('user');
  });

  it('does nothing after it is closed', async () => {
    const { line, recovering, session } = await setUp();
    line.set('answers lost');
    await expect(recovering.rotate(aRotation(session))).rejects.toThrow();
    recovering.close();
    line.set('up');
    await vi.advanceTimersByTimeAsync(60_000);
    expect(line.reverts()).toBe(0);
    expect(vi.getTimerCount()).toBe(0);
  });
});
