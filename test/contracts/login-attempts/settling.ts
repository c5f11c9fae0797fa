import { expect } from 'vitest';
import type { Tests } from '../suite.ts';
import { ADA, FREE, from, type GivenAttempts, MINUTE, SECOND } from './store.ts';

export const settling = ({ it }: Tests<GivenAttempts>): void => {
  it('forgets the failures of a client that succeeds', async ({ attempts, pass, fail, secondsToWait }) => {
    await fail(FREE - 1);
    await attempts.begin(ADA);
    await attempts.succeed(ADA);
    expect(await fail(FREE)).toBe(FREE);
    await pass(SECOND);
    await attempts.begin(ADA);
    await attempts.succeed(ADA);
    expect(await fail(FREE + 1)).toBe(FREE);
    expect(await secondsToWait()).toBe(1);
    await attempts.succeed({ ...ADA, key: 'nobody tried here' });
  });

  it('keeps the failures of other clients when one succeeds', async ({ attempts, fail }) => {
    await fail(FREE - 1);
    for (let count = 0; count < 3; count += 1) {
      expect(await attempts.begin(from('owner'))).toBe(0);
      await attempts.succeed(from('owner'));
    }
    expect(await fail(2)).toBe(1);
  });

  it('counts exactly while attempts begin, succeed and are withdrawn at the same time', async ({ attempts, fail }) => {
    await fail(20);
    await fail(10, from('owner'));
    await Promise.all([
      ...Array.from({ length: 10 }, () => attempts.withdraw(ADA)),
      attempts.succeed(from('owner')),
      ...Array.from({ length: 10 }, (_none, network) => attempts.begin(from(network))),
    ]);
    // Ten of the first are left, and ten have begun.
    expect(await fail(FREE)).toBe(FREE - 20);
  });

  it('does not count an attempt that is withdrawn', async ({ attempts, pass, fail, secondsToWait }) => {
    await attempts.withdraw(ADA);
    for (let count = 0; count < 2 * FREE; count += 1) {
      expect(await attempts.begin(ADA)).toBe(0);
      await attempts.withdraw(ADA);
    }
    expect(await fail(FREE)).toBe(FREE);
    await attempts.withdraw(ADA);
    expect(await fail(2)).toBe(1);
    await pass(SECOND);
    await attempts.begin(ADA);
    await attempts.withdraw(ADA);
    expect(await attempts.begin(ADA)).toBe(0);
    expect(await secondsToWait()).toBe(2);
    for (let count = 0; count < 5; count += 1) {
      await pass(MINUTE);
      expect(await attempts.begin(from('owner'))).toBe(0);
      await attempts.withdraw(from('owner'));
    }
    expect(await attempts.begin(from('owner'))).toBe(0);
  });
};
