// Proves network-8

import { pino } from 'pino';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { randomSecrets } from '../../../src/adapters/crypto/secrets.ts';
import { memoryStorage } from '../../../src/adapters/records/memory.ts';
import { eventsOf } from '../../../src/application/storage/events.ts';
import { AppError } from '../../../src/domain/errors/app-error.ts';
import { NO_ORIGIN } from '../../../src/domain/event.ts';
import { storeRefusedLogins } from '../../../src/infrastructure/compose/reports.ts';
import { aUser, NOW } from '../../support/builders.ts';
import { sequentialIds } from '../../support/sequential-ids.ts';

const SECOND = 1_000;
const user = aUser();

beforeEach(() => void vi.useFakeTimers());

const opened = async () => {
  const { transactions, users, records } = memoryStorage();
  await users.add(user);
  const messages: string[] = [];
  const logger = pino({}, { write: (line) => messages.push(JSON.parse(line).msg) });
  const database = { isDown: false };
  const failing: typeof transactions = {
    run: (work) => (database.isDown ? Promise.reject(new AppError('DB_QUERY_FAILED')) : transactions.run(work)),
  };
  const refusals = storeRefusedLogins(
    { transactions: failing, clock: { now: () => NOW }, ids: sequentialIds(), secrets: randomSecrets },
    logger,
  );
  const count = async () => (await eventsOf(records, { userId: user.id, before: null, limit: 1 }))[0]?.count ?? 0;
  return { ...refusals, refuse: () => refusals.count(user.id, NO_ORIGIN), database, messages, stored: count };
};

describe('refused log-ins', () => {
  it('are stored within seconds, and have no timer while there are none', async () => {
    const { refuse, stored } = await opened();
    expect(vi.getTimerCount()).toBe(0);
    refuse();
    refuse();
    expect(await stored()).toBe(0);
    await vi.advanceTimersByTimeAsync(5 * SECOND);
    expect(await stored()).toBe(2);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('are stored at a moment that nobody can predict', async () => {
    const random = vi.spyOn(Math, 'random');
    for (const [drawn, after] of [
      [0, 1],
      [0.5, 3],
    ] as const) {
      random.mockReturnValue(drawn);
      const { refuse, stored } = await opened();
      refuse();
      await vi.advanceTimersByTimeAsync(after * SECOND - 1);
      expect(await stored()).toBe(0);
      await vi.advanceTimersByTimeAsync(1);
      expect(await stored()).toBe(1);
    }
  });

  it('are stored once the database works again', async () => {
    const { refuse, stored, database, messages } = await opened();
    database.isDown = true;
    refuse();
    await vi.advanceTimersByTimeAsync(11 * SECOND);
    expect(messages.length).toBeGreaterThanOrEqual(2);
    expect(new Set(messages)).toEqual(new Set(['refused log-ins could not be stored']));
    refuse();
    database.isDown = false;
    await vi.advanceTimersByTimeAsync(5 * SECOND);
    expect(await stored()).toBe(2);
  });

  it('are stored when the service stops, which a failing database does not hold up', async () => {
    const { refuse, stored, close } = await opened();
    refuse();
    await close();
    expect(await stored()).toBe(1);
    expect(vi.getTimerCount()).toBe(0);

    const other = await opened();
    other.database.isDown = true;
    other.refuse();
    await other.close();
    expect(vi.getTimerCount()).toBe(0);
  });
});
