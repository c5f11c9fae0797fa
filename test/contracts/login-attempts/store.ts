import type { Attempt, LoginAttempts } from '../../../src/application/ports/login-attempts.ts';
import { type Absent, offered, type StoreHooks } from '../hooks.ts';
import type { Run } from '../suite.ts';

/** An adapter under test, and what the contract does with its store. A hook that cannot be offered is `absent(why)`. */
export type AttemptsStore = StoreHooks<LoginAttempts> & {
  readonly attempts: LoginAttempts;
  /** Advances the clock of all instances; it does not advance by itself. */
  readonly pass: (milliseconds: number) => Promise<void>;
  readonly close?: () => Promise<void>;
};

/** What each test of the contract is given. */
export type GivenAttempts = Awaited<ReturnType<typeof givenAttempts>>;

export const FREE = 50;
export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;

const key = 'account ada';

/** On a network that shares no group with another. */
export const from = (network: number | string): Attempt => {
  const name = String(network).replaceAll(' ', '-');
  return { key, client: { kind: 'network', names: [`${name}/16`, `${name}/24`, name] } };
};

export const ADA = from('192.0.2.1');

export const givenAttempts = async (make: () => Promise<AttemptsStore>, run: Run) => {
  const store = await make();
  const { attempts, pass } = store;

  /** Makes consecutive attempts. @returns how many of them were admitted. */
  const fail = async (times: number, attempt = ADA): Promise<number> => {
    let admitted = 0;
    for (let count = 0; count < times; count += 1) if ((await attempts.begin(attempt)) === 0) admitted += 1;
    return admitted;
  };
  /** Whole seconds, as in the Retry-After header. */
  const secondsToWait = async (attempt = ADA): Promise<number> => Math.ceil((await attempts.begin(attempt)) / SECOND);
  /** Makes concurrent attempts. @returns how many of them were admitted. */
  const crowd = async (times: number, attempt: (index: number) => Attempt = () => ADA): Promise<number> => {
    const waits = await Promise.all(Array.from({ length: times }, (_none, index) => attempts.begin(attempt(index))));
    return waits.filter((wait) => wait === 0).length;
  };
  /** A hook of the store; without it, the test is skipped. */
  const hook = <Name extends 'another' | 'failing'>(name: Name): Exclude<AttemptsStore[Name], Absent> =>
    offered<Exclude<AttemptsStore[Name], Absent>>(store[name] as never, run);

  const close = async () => store.close?.();
  return { store, attempts, pass, fail, secondsToWait, crowd, hook, close };
};
