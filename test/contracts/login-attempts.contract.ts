import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Attempt, LoginAttempts } from '../../src/application/ports/login-attempts.ts';
import { deviceParty } from '../../src/domain/login-throttle.ts';

type Made = {
  readonly attempts: LoginAttempts;
  /** Advances the clock; it does not advance by itself. */
  readonly pass: (milliseconds: number) => Promise<void>;
  readonly close?: () => Promise<void>;
};

const FREE = 50;
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** @param make makes an empty count. */
export const describeLoginAttempts = (name: string, make: () => Promise<Made>) => {
  describe(`${name} as LoginAttempts`, () => {
    let made: Made;
    let attempts: LoginAttempts;
    beforeEach(async () => {
      made = await make();
      attempts = made.attempts;
    });
    afterEach(() => made.close?.());

    const key = 'account ada';
    /** On a network that shares no group with another. */
    const from = (network: number | string): Attempt => {
      const name = String(network).replaceAll(' ', '-');
      return { key, party: { kind: 'network', names: [`${name}/16`, `${name}/24`, name] } };
    };
    /** On a /64 network in the given /48; all of them are in one /32. */
    const inside = (middle: number, network: number): Attempt => ({
      key,
      party: {
        kind: 'network',
        names: ['2001:db8::/32', `2001:db8:${middle}::/48`, `2001:db8:${middle}:${network}::/64`],
      },
    });
    const on = (device: number): Attempt => ({ key: 'devices of ada', party: deviceParty(`device-${device}`) });
    const ada = from('192.0.2.1');
    /** Makes consecutive attempts. @returns how many of them were admitted. */
    const fail = async (times: number, attempt = ada): Promise<number> => {
      let admitted = 0;
      for (let count = 0; count < times; count += 1) if ((await attempts.begin(attempt)) === 0) admitted += 1;
      return admitted;
    };
    /** Fails until each further attempt has to wait for a minute. */
    const besiege = async (attempt = ada): Promise<void> => {
      await fail(FREE, attempt);
      for (let minute = 0; minute < 7; minute += 1) {
        await made.pass(MINUTE);
        expect(await fail(1, attempt)).toBe(1);
      }
    };
    /** Whole seconds, as in the Retry-After header. */
    const secondsToWait = async (attempt = ada): Promise<number> => Math.ceil((await attempts.begin(attempt)) / SECOND);
    /** Makes concurrent attempts. @returns how many of them were admitted. */
    const crowd = async (times: number, attempt: (index: number) => Attempt = () => ada): Promise<number> => {
      const waits = await Promise.all(Array.from({ length: times }, (_none, index) => attempts.begin(attempt(index))));
      return waits.filter((wait) => wait === 0).length;
    };

    it('admits 50 failures at once, and makes the next attempt wait', async () => {
      expect(await fail(FREE)).toBe(FREE);
      expect(await attempts.begin(ada)).toBe(SECOND);
    });

    it('doubles the wait with each further failure, from a second up to a minute', async () => {
      await fail(FREE);
      const seconds: number[] = [];
      for (let failure = 0; failure < 9; failure += 1) {
        seconds.push(await secondsToWait());
        await made.pass(MINUTE);
        expect(await attempts.begin(ada)).toBe(0);
      }
      expect(seconds).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60]);
    });

    it('does not count attempts that have to wait', async () => {
      await fail(FREE);
      expect(await fail(50)).toBe(0);
      expect(await secondsToWait()).toBe(1);
      await made.pass(SECOND);
      expect(await attempts.begin(ada)).toBe(0);
      expect(await secondsToWait()).toBe(2);
    });

    it('admits exactly 50 of many concurrent attempts', async () => {
      expect(await crowd(2 * FREE)).toBe(FREE);
      expect(await secondsToWait()).toBe(1);
    });

    it('admits one of many concurrent attempts after the wait', async () => {
      await fail(FREE);
      await made.pass(SECOND);
      expect(await crowd(50)).toBe(1);
      expect(await secondsToWait()).toBe(2);
    });

    it('forgets the failures of a party that succeeds', async () => {
      await fail(FREE - 1);
      await attempts.begin(ada);
      await attempts.succeed(ada);
      expect(await fail(FREE)).toBe(FREE);
      await made.pass(SECOND);
      await attempts.begin(ada);
      await attempts.succeed(ada);
      expect(await fail(FREE + 1)).toBe(FREE);
      expect(await secondsToWait()).toBe(1);
      await attempts.succeed({ ...ada, key: 'nobody tried here' });
    });

    it('keeps the failures of other parties when one succeeds', async () => {
      await fail(FREE - 1);
      for (let count = 0; count < 3; count += 1) {
        expect(await attempts.begin(from('owner'))).toBe(0);
        await attempts.succeed(from('owner'));
      }
      expect(await fail(2)).toBe(1);
    });

    it('counts each key separately', async () => {
      await fail(FREE);
      const others = ['account Ada', 'account ada ', 'account', '', `account ${'x'.repeat(100_000)}`, 'a\0b', '\ud800'];
      for (const other of others) expect(await attempts.begin({ ...ada, key: other })).toBe(0);
      await attempts.succeed({ ...ada, key: 'account' });
      expect(await secondsToWait()).toBe(1);
    });

    it('admits a network without failures while another network waits', async () => {
      await fail(FREE);
      await made.pass(SECOND);
      for (let minute = 0; minute < 10; minute += 1) {
        await fail(5);
        expect(await fail(1)).toBe(0);
        await made.pass(MINUTE);
      }
      expect(await attempts.begin(from('owner'))).toBe(0);
    });

    it('makes networks without failures wait for each other', async () => {
      expect(await crowd(2 * FREE, from)).toBe(FREE);
      await made.pass(SECOND);
      expect(await crowd(50, (index) => from(`other ${index}`))).toBe(1);
      expect(await secondsToWait(from('owner'))).toBe(2);
    });

    it('treats a network as failing from its third failure on', async () => {
      await besiege();
      for (let failure = 0; failure < 3; failure += 1) {
        await made.pass(MINUTE);
        expect(await attempts.begin(from('owner'))).toBe(0);
      }
      await made.pass(MINUTE);
      expect(await secondsToWait(from('owner'))).toBe(60);
      expect(await attempts.begin(from('another'))).toBe(0);
    });

    it('treats all networks of a group as one failing network when enough of them have failed', async () => {
      await besiege();
      for (let network = 0; network < 6; network += 1) {
        await made.pass(MINUTE);
        expect(await attempts.begin(inside(1, network))).toBe(0);
      }
      await made.pass(MINUTE);
      expect(await secondsToWait(inside(1, 99))).toBe(60);
      // Another group of the provider is not failing, until twelve attempts have made the whole provider failing.
      for (let network = 0; network < 6; network += 1) {
        expect(await attempts.begin(inside(2, network))).toBe(0);
        await made.pass(MINUTE);
      }
      expect(await secondsToWait(inside(3, 1))).toBe(60);
      expect(await attempts.begin(from('owner'))).toBe(0);
    });

    it('does not treat a network as failing because another one of its group is', async () => {
      expect(await fail(2 * FREE, inside(1, 1))).toBe(FREE);
      await made.pass(MINUTE);
      expect(await attempts.begin(inside(1, 1))).toBe(0);
      expect(await attempts.begin(inside(1, 2))).toBe(0);
      expect(await attempts.begin(inside(1, 3))).toBeGreaterThan(0);
      await made.pass(MINUTE);
      expect(await attempts.begin(inside(1, 3))).toBe(0);
    });

    it('gives each failing network its own turns', async () => {
      const networks = [1, 2, 3].map(from);
      for (const network of networks) await fail(20, network);
      for (let round = 0; round < 3; round += 1) {
        await made.pass(3 * MINUTE);
        for (const network of networks) expect(await fail(2, network)).toBe(1);
      }
      for (const network of networks) expect(await secondsToWait(network)).toBe(180);
      await made.pass(3 * MINUTE);
      for (const network of networks) expect(await fail(20, network)).toBe(1);
    });

    it('admits three attempts of a device, however often the others fail', async () => {
      expect(await fail(2 * FREE, on(1))).toBe(FREE);
      expect(await secondsToWait(on(1))).toBe(1);
      for (let device = 2; device < 20; device += 1) expect(await fail(FREE, on(device))).toBe(3);
    });

    it('gives each failing device its own turns', async () => {
      await besiege(on(1));
      await fail(3, on(2));
      expect(await secondsToWait(on(2))).toBe(120);
      await made.pass(2 * MINUTE);
      expect(await fail(5, on(1))).toBe(1);
      expect(await fail(5, on(2))).toBe(1);
      await attempts.succeed(on(2));
      await made.pass(MINUTE);
      expect(await attempts.begin(on(1))).toBe(0);
    });

    it('limits the failures of any number of devices together', async () => {
      const waits = await Promise.all(Array.from({ length: 400 }, (_none, index) => attempts.begin(on(index % 100))));
      expect(waits.filter((wait) => wait === 0)).toHaveLength(150);
      expect(await attempts.begin(on(1_000))).toBeGreaterThan(0);
    });

    it('forgets the failures of a party an hour after its last attempt', async () => {
      await fail(FREE - 1);
      await made.pass(HOUR - MINUTE);
      expect(await fail(2, from('another'))).toBe(1);
      await made.pass(MINUTE);
      expect(await fail(FREE, from('another'))).toBe(FREE - 1);
      expect(await fail(1, from('another'))).toBe(0);
      await made.pass(HOUR);
      expect(await fail(FREE + 1)).toBe(FREE);
    });

    it('does not count an attempt that is withdrawn', async () => {
      await attempts.withdraw(ada);
      for (let count = 0; count < 2 * FREE; count += 1) {
        expect(await attempts.begin(ada)).toBe(0);
        await attempts.withdraw(ada);
      }
      expect(await fail(FREE)).toBe(FREE);
      await attempts.withdraw(ada);
      expect(await fail(2)).toBe(1);
      await made.pass(SECOND);
      await attempts.begin(ada);
      await attempts.withdraw(ada);
      expect(await attempts.begin(ada)).toBe(0);
      expect(await secondsToWait()).toBe(2);
      for (let count = 0; count < 5; count += 1) {
        await made.pass(MINUTE);
        expect(await attempts.begin(from('owner'))).toBe(0);
        await attempts.withdraw(from('owner'));
      }
      expect(await attempts.begin(from('owner'))).toBe(0);
    });
  });
};
