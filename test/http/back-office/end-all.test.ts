import { afterEach, describe, expect, it, vi } from 'vitest';
import { memoryStorage } from '../../../src/adapters/records/memory.ts';
import type { Stores } from '../../../src/application/ports/transactions.ts';
import { continueEndingAll } from '../../../src/application/sessions/end-all.ts';
import { aSession } from '../../support/builders.ts';
import { closedServices, eventsOf } from '../../support/http/account.ts';
import { signUp } from '../../support/http/auth-http.ts';
import { asked, WITH_OFFICE } from '../../support/http/back-office.ts';
import { changedStorage } from '../../support/storage/changed-storage.ts';

const HOUR = 3_600_000;
/** More than one request waits for. Milliseconds. */
const LONG = 6_000;

const start = closedServices();

/** A service with sessions for several steps, of which each takes long. @param onStep called with the number of each step. */
const withSlowSteps = async (onStep: (step: number) => Promise<unknown>) => {
  let step = 0;
  const slow = (massEndings: Stores['massEndings']): Stores['massEndings'] => ({
    ...massEndings,
    async next() {
      step += 1;
      vi.advanceTimersByTime(LONG);
      await onStep(step);
      return massEndings.next();
    },
  });
  const storage = changedStorage(memoryStorage(), ({ massEndings }) => ({ massEndings: slow(massEndings) }));
  const service = await start(WITH_OFFICE, { storage });
  const { sessions, clock } = service.ports;
  const people = await Promise.all(Array.from({ length: 6 }, () => signUp(service)));
  const at = clock.now() - HOUR;
  for (const { user } of people)
    for (let count = 0; count < 40; count += 1)
      await sessions.add(aSession({ userId: user.id, createdAt: at, authenticatedAt: at, expiresAt: at + 2 * HOUR }));
  const open = async () => (await sessions.listAll(null, 1_000)).length;
  vi.useFakeTimers({ toFake: ['performance'] });
  return { service, people, open, end: () => asked(service, 'delete', '/sessions', { reason: 'A leak.' }) };
};

describe('the end of all sessions that takes longer than a request may', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it('is accepted, and goes on after the answer', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { end, open, service, people } = await withSlowSteps(async (step) => step > 1 && promise);
    const { status, body } = await end();
    expect([status, body.data]).toEqual([202, { endedSessions: 100, isDone: false }]);
    expect(await open()).toBe(146);
    resolve();
    await expect.poll(open).toBe(0);
    for (const { user } of people) expect((await eventsOf(service, user.id))[0]).toMatchObject({ note: 'A leak.' });
  });

  it('is left to the next purge where it fails, and nothing of it is lost', async () => {
    const failed = Promise.withResolvers<void>();
    const { end, open, service } = await withSlowSteps(async (step) => {
      if (step !== 2) return;
      setImmediate(failed.resolve);
      throw new Error('the database is gone');
    });
    expect((await end()).status).toBe(202);
    await failed.promise;
    expect(await open()).toBe(146);
    while ((await continueEndingAll(service.ports)(100)) !== null);
    expect(await open()).toBe(0);
  });

  it('is done by one of two requests at once, and begun by both', async () => {
    const { end, open } = await withSlowSteps(async () => undefined);
    const statuses = (await Promise.all([end(), end()])).map(({ status }) => status);
    expect(statuses).toEqual([202, 202]);
    await expect.poll(open).toBe(0);
  });
});
