import type { Stores } from '../../src/application/storage/stores.ts';
import { binding } from './storage/binding.ts';
import { endings } from './storage/ended-sessions.ts';
import { ending } from './storage/ending-sessions.ts';
import { events } from './storage/events.ts';
import { devices, factors, identities, passkeys } from './storage/factors.ts';
import { type GivenStorage, givenStorage, type OpenedStorage } from './storage/given.ts';
import { givenSessions } from './storage/given-sessions.ts';
import { givenUsers, type OpenedUsers } from './storage/given-users.ts';
import { invitations } from './storage/invitations.ts';
import { links, used } from './storage/links.ts';
import { outbox } from './storage/outbox.ts';
import { reverting, rotating } from './storage/rotating.ts';
import { keeping, massEndings } from './storage/sessions.ts';
import { transactions } from './storage/transactions.ts';
import { changingUsers } from './storage/user-changes.ts';
import { addingUsers } from './storage/users.ts';
import { webhooks } from './storage/webhooks.ts';
import { prepared, type Tests, vitestSuite } from './suite.ts';

const OTHERS: Readonly<
  Record<Exclude<keyof Stores | 'transactions', 'users' | 'sessions' | 'records'>, (tests: Tests<GivenStorage>) => void>
> = {
  events,
  endings,
  links,
  invitations,
  outbox,
  used,
  passkeys,
  identities,
  factors,
  devices,
  massEndings,
  webhooks,
  transactions,
};

/**
 * Registers the tests of every promise of all repositories, and of their transactions, for one storage.
 * @param open makes an empty storage, for each test anew.
 */
export const describeStorage = (name: string, open: () => Promise<OpenedStorage>, suite = vitestSuite): void => {
  describeUserRepository(name, open, suite);
  describeSessionRepository(name, open, suite);
  const tests = prepared(suite, (run) => givenStorage(open, run));
  for (const [part, register] of Object.entries(OTHERS)) suite.describe(`${part} ${name}`, () => register(tests));
};

/** The same for a repository of users alone. */
export const describeUserRepository = (name: string, open: () => Promise<OpenedUsers>, suite = vitestSuite): void => {
  const tests = prepared(suite, (run) => givenUsers(open, run));
  suite.describe(`users ${name}`, () => {
    for (const register of [addingUsers, changingUsers]) register(tests);
  });
};

/** The same for the sessions of a storage alone. */
export const describeSessionRepository = (
  name: string,
  open: () => Promise<OpenedStorage>,
  suite = vitestSuite,
): void => {
  const tests = prepared(suite, (run) => givenSessions(open, run));
  suite.describe(`sessions ${name}`, () => {
    for (const register of [keeping, ending, rotating, reverting, binding]) register(tests);
  });
};
