import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { LoginAttempts } from '../../src/application/ports/login-attempts.ts';

type Made = {
  readonly attempts: LoginAttempts;
  /** Has so many milliseconds pass; none do by themselves. */
  readonly pass: (milliseconds: number) => Promise<void>;
  readonly close?: () => Promise<void>;
};

const FREE = 100;
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** @param make attempts at which nobody has tried yet. */
export const describeLoginAttempts = (name: string, make: () => Promise<Made>) => {
  describe(`${name} as LoginAttempts`, () => {
    let made: Made;
    let attempts: LoginAttempts;
    beforeEach(async () => {
      made = await make();
      attempts = made.attempts;
    });
    afterEach(() => made.close?.());

    const ada = { key: 'account ada', network: '192.0.2.1' };
    const from = (network: number | string) => ({ ...ada, network: String(network) });
    /** Tries one after the other. @returns how many of them were let through. */
    const fail = async (times: number, attempt = ada): Promise<number> => {
      let admitted = 0;
      for (let count = 0; count < times; count += 1) if ((await attempts.begin(attempt)) === 0) admitted += 1;
      return admitted;
    };
    /** Whole seconds, as a client is told. */
    const secondsToWait = async (attempt = ada): Promise<number> => Math.ceil((await attempts.begin(attempt)) / SECOND);
    /** Tries at once. @returns how many of them were let through. */
    const crowd = async (times: number, attempt = (_index: number) => ada): Promise<number> => {
      const waits = await Promise.all(Array.from({ length: times }, (_none, index) => attempts.begin(attempt(index))));
      return waits.filter((wait) => wait === 0).length;
    };

    it('lets 100 failures in a row through at once, and has the next one wait', async () => {
      expect(await fail(FREE)).toBe(FREE);
      expect(await attempts.begin(ada)).toBe(SECOND);
    });

    it('has each failure after that wait twice as long as the last, from a second up to a minute', async () => {
      await fail(FREE);
      const seconds: number[] = [];
      for (let failure = 0; failure < 9; failure += 1) {
        seconds.push(await secondsToWait());
        await made.pass(MINUTE);
        expect(await attempts.begin(ada)).toBe(0);
      }
      expect(seconds).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60]);
    });

    it('takes no notice of tries that were told to wait', async () => {
      await fail(FREE);
      expect(await fail(50)).toBe(0);
      expect(await secondsToWait()).toBe(1);
      await made.pass(SECOND);
      expect(await attempts.begin(ada)).toBe(0);
      expect(await secondsToWait()).toBe(2);
    });

    it('lets exactly 100 of many concurrent tries through', async () => {
      expect(await crowd(2 * FREE)).toBe(FREE);
      expect(await secondsToWait()).toBe(1);
    });

    it('lets one of many concurrent tries through when the wait is over', async () => {
      await fail(FREE);
      await made.pass(SECOND);
      expect(await crowd(50)).toBe(1);
      expect(await secondsToWait()).toBe(2);
    });

    it('starts anew after a success', async () => {
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

    it('counts each key for itself', async () => {
      await fail(FREE);
      const others = ['account Ada', 'account ada ', 'account', '', `account ${'x'.repeat(100_000)}`, 'a\0b', '\ud800'];
      for (const key of others) expect(await attempts.begin({ ...ada, key })).toBe(0);
      await attempts.succeed({ ...ada, key: 'account' });
      expect(await secondsToWait()).toBe(1);
    });

    it('lets a network that has not failed here try while another one waits', async () => {
      await fail(FREE);
      await made.pass(SECOND);
      for (let minute = 0; minute < 10; minute += 1) {
        await fail(5);
        expect(await fail(1)).toBe(0);
        await made.pass(MINUTE);
      }
      expect(await attempts.begin(from('owner'))).toBe(0);
    });

    it('has networks that have not failed here wait for each other', async () => {
      expect(await crowd(2 * FREE, from)).toBe(FREE);
      await made.pass(SECOND);
      expect(await crowd(50, (index) => from(`other ${index}`))).toBe(1);
      expect(await secondsToWait(from('owner'))).toBe(2);
    });

    it('takes a network for one that keeps failing from its third failure on', async () => {
      await fail(FREE);
      for (let failure = 0; failure < 3; failure += 1) {
        await made.pass(MINUTE);
        expect(await attempts.begin(from('owner'))).toBe(0);
      }
      await made.pass(MINUTE);
      expect(await attempts.begin(ada)).toBe(0);
      expect(await attempts.begin(from('owner'))).toBeGreaterThan(0);
      expect(await attempts.begin(from('another'))).toBe(0);
    });

    it('forgets what happened over an hour ago', async () => {
      await fail(FREE);
      await made.pass(HOUR - MINUTE);
      await attempts.begin(from('another'));
      await made.pass(2 * MINUTE);
      // The account is remembered, for what happened since; that this network failed is not.
      await attempts.begin(from('one'));
      expect(await secondsToWait(from('another'))).toBeGreaterThan(0);
      await made.pass(HOUR);
      expect(await fail(FREE + 1)).toBe(FREE);
    });

    it('takes back a try that came to no end', async () => {
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
