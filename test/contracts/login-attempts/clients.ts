import { expect } from 'vitest';
import type { Tests } from '../suite.ts';
import { FREE, from, type GivenAttempts, inside, MINUTE, on, SECOND } from './store.ts';

export const clients = ({ it }: Tests<GivenAttempts>): void => {
  it('admits a network without failures while another network waits', async ({ attempts, pass, fail }) => {
    await fail(FREE);
    await pass(SECOND);
    for (let minute = 0; minute < 10; minute += 1) {
      await fail(5);
      expect(await fail(1)).toBe(0);
      await pass(MINUTE);
    }
    await fail(5);
    expect(await fail(1)).toBe(0);
    expect(await attempts.begin(from('owner'))).toBe(0);
  });

  it('makes networks without failures wait for each other', async ({ pass, crowd, secondsToWait }) => {
    expect(await crowd(2 * FREE, from)).toBe(FREE);
    await pass(SECOND);
    expect(await crowd(50, (index) => from(`other ${index}`))).toBe(1);
    expect(await secondsToWait(from('owner'))).toBe(2);
  });

  it('treats a network as failing from its third failure on', async ({ attempts, pass, besiege, secondsToWait }) => {
    await besiege();
    for (let failure = 0; failure < 3; failure += 1) {
      await pass(MINUTE);
      expect(await attempts.begin(from('owner'))).toBe(0);
    }
    await pass(MINUTE);
    expect(await secondsToWait(from('owner'))).toBe(60);
    expect(await attempts.begin(from('another'))).toBe(0);
  });

  it('treats all networks of a group as one failing network when enough of them have failed', async ({
    attempts,
    pass,
    besiege,
    secondsToWait,
  }) => {
    await besiege();
    for (let network = 0; network < 6; network += 1) {
      await pass(MINUTE);
      expect(await attempts.begin(inside(1, network))).toBe(0);
    }
    await pass(MINUTE);
    expect(await secondsToWait(inside(1, 99))).toBe(60);
    // Another group of the provider is not failing, until twelve attempts have made the whole provider failing.
    for (let network = 0; network < 6; network += 1) {
      expect(await attempts.begin(inside(2, network))).toBe(0);
      await pass(MINUTE);
    }
    expect(await secondsToWait(inside(3, 1))).toBe(60);
    expect(await attempts.begin(from('owner'))).toBe(0);
  });

  it('does not treat a network as failing because another one of its group is', async ({ attempts, pass, fail }) => {
    expect(await fail(2 * FREE, inside(1, 1))).toBe(FREE);
    await pass(MINUTE);
    expect(await attempts.begin(inside(1, 1))).toBe(0);
    expect(await attempts.begin(inside(1, 2))).toBe(0);
    expect(await attempts.begin(inside(1, 3))).toBeGreaterThan(0);
    await pass(MINUTE);
    expect(await attempts.begin(inside(1, 3))).toBe(0);
  });

  it('gives each failing network its own buckets', async ({ pass, fail, secondsToWait }) => {
    const networks = [1, 2, 3].map(from);
    for (const network of networks) await fail(20, network);
    for (let round = 0; round < 3; round += 1) {
      await pass(3 * MINUTE);
      for (const network of networks) expect(await fail(2, network)).toBe(1);
    }
    for (const network of networks) expect(await secondsToWait(network)).toBe(180);
    await pass(3 * MINUTE);
    for (const network of networks) expect(await fail(20, network)).toBe(1);
  });

  it('admits three attempts of a device, however often the others fail', async ({ fail, secondsToWait }) => {
    expect(await fail(2 * FREE, on(1))).toBe(FREE);
    expect(await secondsToWait(on(1))).toBe(1);
    for (let device = 2; device < 20; device += 1) expect(await fail(FREE, on(device))).toBe(3);
  });

  it('gives each failing device its own buckets', async ({ attempts, pass, fail, besiege, secondsToWait }) => {
    await besiege(on(1));
    await fail(3, on(2));
    expect(await secondsToWait(on(2))).toBe(120);
    await pass(2 * MINUTE);
    expect(await fail(5, on(1))).toBe(1);
    expect(await fail(5, on(2))).toBe(1);
    await attempts.succeed(on(2));
    await pass(MINUTE);
    expect(await attempts.begin(on(1))).toBe(0);
  });

  it('limits the failures of any number of devices together', async ({ attempts }) => {
    const waits = await Promise.all(Array.from({ length: 400 }, (_none, index) => attempts.begin(on(index % 100))));
    expect(waits.filter((wait) => wait === 0)).toHaveLength(150);
    expect(await attempts.begin(on(1_000))).toBeGreaterThan(0);
  });
};
