import { describe, expect, it } from 'vitest';
import { randomSecrets } from '../../../src/adapters/crypto/secrets.ts';
import { memoryStorage } from '../../../src/adapters/records/memory.ts';
import { logInWithCode, requestLoginCode } from '../../../src/application/accounts/login-by-code.ts';
import { disableAccount } from '../../../src/application/accounts/operate-accounts.ts';
import { replaceCodes } from '../../../src/application/factors/enrol-app.ts';
import { COUNTED_AT_ONCE, refusedLoginCounter } from '../../../src/application/login/refused-login-counter.ts';
import { eventsOf } from '../../../src/application/storage/events.ts';
import { AppError } from '../../../src/domain/errors/app-error.ts';
import { COUNTING_PERIOD, NO_ORIGIN } from '../../../src/domain/event.ts';
import { FREE_FAILURES } from '../../../src/domain/login-throttle.ts';
import { NO_PASSWORD } from '../../../src/domain/password.ts';
import { ADA, application } from '../../support/application.ts';
import { aUser } from '../../support/builders.ts';
import { fixedClock } from '../../support/fixed-clock.ts';
import { reportsOf } from '../../support/reports.ts';
import { sequentialIds } from '../../support/sequential-ids.ts';

const ORIGIN = { userAgent: 'Curl', address: '192.0.2.0/24', requestId: 'a request' };

/** An application that notes whose log-ins are refused. */
const noting = () => {
  const refused: string[] = [];
  const app = application({ report: reportsOf('login-refused', (userId) => refused.push(userId)) });
  return { ...app, refused };
};

describe('a refused log-in', () => {
  it('is counted for an account that exists: after a wrong password, and while the account is disabled', async () => {
    const app = noting();
    const { user } = await app.register(ADA);
    await expect(app.login({ account: 'ada', password: 'wrong' })).rejects.toThrow('wrong');
    await disableAccount(app)(user.id, NO_ORIGIN);
    await expect(app.login({ account: 'ada', password: ADA.password })).rejects.toThrow('disabled');
    expect(app.refused).toStrictEqual([user.id, user.id]);
  });

  it('is counted, too, when it has to wait because of others', async () => {
    const app = noting();
    const { user } = await app.register(ADA);
    for (let attempt = 0; attempt <= FREE_FAILURES; attempt += 1) {
      await app.login({ account: 'ada', password: 'wrong' }).catch(() => undefined);
    }
    await expect(app.login({ account: 'ada', password: ADA.password })).rejects.toMatchObject({
      code: 'CLIENT_REQUEST_RATE_LIMIT_EXCEEDED',
    });
    expect(app.refused).toStrictEqual(Array.from({ length: FREE_FAILURES + 2 }, () => user.id));
  });

  it('by code is counted once for each account whose code it may have been', async () => {
    const app = noting();
    const bob = { username: 'bob', email: 'bob@example.org', password: ADA.password };
    const ids = [(await app.register(ADA)).user.id, (await app.register(bob)).user.id];
    let asked: string[] = [];
    for (const account of ['ada', ADA.email, 'bob']) asked = [await requestLoginCode(app)({ account, asked })];
    await expect(logInWithCode(app)({ code: '00000000', asked })).rejects.toMatchObject({ code: 'AUTH_CODE_INVALID' });
    expect(app.refused.toSorted()).toStrictEqual(ids.toSorted());
  });

  it('by a recovery code in place of the password is counted, too', async () => {
    const app = noting();
    const { user } = await app.register(ADA);
    await app.users.setPasswordHash(user.id, { passwordHash: NO_PASSWORD, isOfNewPassword: true, now: 0 });
    const [code = ''] = await app.transactions.run((stores) => replaceCodes(app, stores, user.id));
    await disableAccount(app)(user.id, NO_ORIGIN);
    await expect(app.login({ account: 'ada', password: code })).rejects.toThrow('disabled');
    expect(app.refused).toStrictEqual([user.id]);
  });

  it('is not counted for an unknown account, for a log-in that succeeds, or when the service fails', async () => {
    const app = noting();
    await app.register(ADA);
    await app.login({ account: 'ada', password: ADA.password });
    await expect(app.login({ account: 'bob', password: 'wrong' })).rejects.toThrow('wrong');
    app.hasher.verify = async () => {
      throw new AppError('DB_QUERY_FAILED');
    };
    await expect(app.login({ account: 'ada', password: ADA.password })).rejects.toThrow();
    expect(app.refused).toStrictEqual([]);
  });
});

/** Counts over stores in memory, whose transaction fails while `isDown`. */
const counting = async () => {
  const { transactions, ...stores } = memoryStorage();
  const clock = fixedClock(Date.UTC(2026, 0, 1, 12, 30));
  const state = { isDown: false, units: 0 };
  const counts = refusedLoginCounter({
    clock,
    ids: sequentialIds(),
    secrets: randomSecrets,
    transactions: {
      run: async (work) => {
        state.units += 1;
        if (state.isDown) throw new AppError('DB_QUERY_FAILED');
        return transactions.run(work);
      },
    },
  });
  const { users } = stores;
  const add = async (id: string) => {
    await users.add(aUser({ id, username: id }));
  };
  await add('ada');
  await add('bob');
  const stored = async (userId: string) =>
    (await eventsOf(stores.records, { userId, before: null, limit: 10 })).map(({ count, at, requestId }) => ({
      count,
      at,
      requestId,
    }));
  return { counts, clock, state, stored };
};

describe('the counts of refused log-ins', () => {
  it('are one event for each user and hour, with the last request', async () => {
    const { counts, clock, stored, state } = await counting();
    const start = clock.now();
    counts.count('ada', ORIGIN);
    counts.count('bob', ORIGIN);
    clock.advance(1);
    counts.count('ada', { ...ORIGIN, requestId: 'a later one' });
    expect(await stored('ada')).toStrictEqual([]);
    await counts.store();
    expect(state.units).toBe(1);
    expect(await stored('ada')).toStrictEqual([{ count: 2, at: start + 1, requestId: 'a later one' }]);
    expect(await stored('bob')).toStrictEqual([{ count: 1, at: start, requestId: 'a request' }]);

    counts.count('ada', ORIGIN);
    clock.advance(COUNTING_PERIOD);
    counts.count('ada', ORIGIN);
    await counts.store();
    expect((await stored('ada')).map(({ count }) => count)).toStrictEqual([1, 3]);
  });

  it('are bounded, and say how many are not counted', async () => {
    const { counts, state } = await counting();
    state.isDown = true;
    for (let user = 0; user < COUNTED_AT_ONCE; user += 1) counts.count(`user ${user}`, ORIGIN);
    counts.count('one too many', ORIGIN);
    counts.count('user 0', ORIGIN);
    await expect(counts.store()).rejects.toThrow();
    expect(counts.waiting()).toBe(COUNTED_AT_ONCE);
    expect(counts.takeLost()).toBe(1);
    expect(counts.takeLost()).toBe(0);
    expect(state.units).toBe(1);
  });
});
