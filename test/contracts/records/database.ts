import { expect } from 'vitest';
import type { Records } from '../../../src/application/storage/records.ts';
import type { Tables } from '../../../src/application/storage/tables.ts';
import type { User } from '../../../src/domain/user.ts';
import { aMessage, anEvent, anId, aSession, aUser } from '../../support/builders.ts';
import { type Absent, offered, type StoreHooks } from '../hooks.ts';
import type { Run } from '../suite.ts';

/** An adapter under test, over empty tables, and what the contract does with its store. A hook that cannot be offered is `absent(why)`. */
export type Database = StoreHooks<Records> & {
  readonly records: Records;
  /** Resolves when a unit waits for another. Where units take turns: when it has had the chance to run. */
  readonly untilOneWaits: () => Promise<unknown>;
  readonly close?: () => Promise<void>;
};

export const aUserRow = (given: Partial<User> = {}): Tables['users'] => {
  const user = aUser(given);
  return { ...user, usernameKey: user.username.toLowerCase() };
};
export const aSessionRow = (given: Partial<Tables['sessions']>): Tables['sessions'] => {
  const session = aSession(given);
  return { purgeCheckAt: session.expiresAt, ...session };
};
export const anEventRow = (given: Partial<Tables['events']>): Tables['events'] => ({
  ...anEvent(given),
  device: null,
  countedBy: null,
  ...given,
});
export const aMessageRow = (given: Partial<Tables['outbox']>): Tables['outbox'] => ({
  ...aMessage(given),
  nextAttemptAt: 0,
  waitsForPoll: false,
  request: null,
  network: null,
  ...given,
});

export const stored = <Row extends object>(row: Row) => ({ ...row, version: expect.any(Number) });

export const givenDatabase = async (make: () => Promise<Database>, run: Run) => {
  const database = await make();
  const { records } = database;
  const [user, other] = [aUserRow(), aUserRow()];
  for (const each of [user, other]) await records.insert('users', each);
  /** A hook of the store; without it, the test is skipped. */
  const hook = (name: 'another' | 'failing'): (() => Promise<Records>) =>
    offered(database[name] as Absent, run) as never;
  const begun: Promise<unknown>[] = [];
  const opened: (() => void)[] = [];
  /** Something to wait for, at the latest until the end of the test. */
  const gate = (): PromiseWithResolvers<void> => {
    const made = Promise.withResolvers<void>();
    opened.push(made.resolve);
    return made;
  };
  /** A unit that ends before the test does. */
  const unit: Records['unit'] = (work) => {
    const ended = records.unit(work);
    begun.push(ended);
    return ended;
  };
  /** The row of a table with this key. */
  const findUser = async (id: string) => (await records.list('users', { equal: { id } }))[0];
  const findSession = async (id: string) => (await records.list('sessions', { equal: { id } }))[0];
  const close = async () => {
    for (const open of opened) open();
    await Promise.allSettled(begun);
    await database.close?.();
  };
  return { database, records, user, other, stranger: anId(), hook, gate, unit, findUser, findSession, close };
};

export type GivenDatabase = Awaited<ReturnType<typeof givenDatabase>>;

/** Expects the error of a row that equals another in the index of this name. */
export const expectViolation = (error: unknown, index: string): void =>
  expect(error).toMatchObject({ code: 'DB_UNIQUE_VIOLATION', reason: index });

/** How many of so many calls returned true, or were not rejected. */
export const successes = (outcomes: readonly PromiseSettledResult<unknown>[]): number =>
  outcomes.filter((outcome) => outcome.status === 'fulfilled' && outcome.value !== false).length;
