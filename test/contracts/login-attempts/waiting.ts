import { expect } from 'vitest';
import { clientKey } from '../../../src/domain/login-throttle.ts';
import { expectTranslated } from '../hooks.ts';
import type { Tests } from '../suite.ts';
import { atBoth } from '../two-instances.ts';
import { ADA, FREE, from, type GivenAttempts, HOUR, MINUTE, SECOND } from './store.ts';

export const waiting = ({ it }: Tests<GivenAttempts>): void => {
  it('admits 50 failures at once, and makes the next attempt wait', async ({ attempts, fail }) => {
    expect(await fail(FREE)).toBe(FREE);
    expect(await attempts.begin(ADA)).toBe(SECOND);
  });

  it('admits exactly 50 of many concurrent attempts', async ({ crowd, secondsToWait }) => {
    expect(await crowd(2 * FREE)).toBe(FREE);
    expect(await secondsToWait()).toBe(1);
  });

  it('admits one of many concurrent attempts after the wait', async ({ pass, fail, crowd, secondsToWait }) => {
    await fail(FREE);
    await pass(SECOND);
    expect(await crowd(50)).toBe(1);
    expect(await secondsToWait()).toBe(2);
  });

  it('counts each key separately', async ({ attempts, fail, secondsToWait }) => {
    await fail(FREE);
    const others = ['account Ada', 'account ada ', 'account', '', `account ${'x'.repeat(100_000)}`, 'a\0b', '\ud800'];
    for (const other of others) expect(await attempts.begin({ ...ADA, key: other })).toBe(0);
    await attempts.succeed({ ...ADA, key: 'account' });
    expect(await secondsToWait()).toBe(1);
  });

  it('forgets the failures of a client an hour after its last attempt', async ({ pass, fail }) => {
    await fail(FREE - 1);
    await pass(HOUR - MINUTE);
    expect(await fail(2, from('another'))).toBe(1);
    await pass(MINUTE);
    expect(await fail(FREE, from('another'))).toBe(FREE - 1);
    expect(await fail(1, from('another'))).toBe(0);
    await pass(HOUR);
    expect(await fail(FREE + 1)).toBe(FREE);
  });

  it('admits exactly 50 of many concurrent attempts at two instances', async ({ attempts, hook }) => {
    const another = await hook('another')();
    for (let account = 0; account < 10; account += 1) {
      const attempt = { ...ADA, key: `account ${account}` };
      const waits = await atBoth(another, attempts, (instance) =>
        Promise.all(Array.from({ length: FREE }, () => instance.begin(attempt))),
      );
      expect(waits.flat().filter((wait) => wait === 0)).toHaveLength(FREE);
      expect(await attempts.begin(attempt)).toBe(SECOND);
    }
  });

  it('does not reject when its store fails, or with DB_QUERY_FAILED alone', async ({ hook }) => {
    const failing = await hook('failing')();
    const accepted = (error: unknown): void => expectTranslated(error, [ADA.key, clientKey(ADA.client)]);
    await failing.begin(ADA).catch(accepted);
    await failing.succeed(ADA).catch(accepted);
    await failing.withdraw(ADA).catch(accepted);
  });
};
