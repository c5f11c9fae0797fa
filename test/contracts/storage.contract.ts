import { binding } from './storage/binding.ts';
import { concurrentUses } from './storage/concurrent-uses.ts';
import { ending } from './storage/ending-sessions.ts';
import { givenStorage, type OpenedStorage } from './storage/given.ts';
import { givenSessions } from './storage/given-sessions.ts';
import { givenUsers, type OpenedUsers } from './storage/given-users.ts';
import { reverting, rotating } from './storage/rotating.ts';
import { keeping } from './storage/sessions.ts';
import { transactions } from './storage/transactions.ts';
import { changingUsers } from './storage/user-changes.ts';
import { addingUsers } from './storage/users.ts';
import { prepared, vitestSuite } from './suite.ts';

/**
 * Registers the tests of every promise of all repositories, and of their transactions, for one storage.
 * @param open makes an empty storage, for each test anew.
 */
export const describeStorage = (name: string, open: () => Promise<OpenedStorage>, suite = vitestSuite): void => {
  describeUserRepository(name, open, suite);
  describeSessionRepository(name, open, suite);
  const tests = prepared(suite, (run) => givenStorage(open, run));
  suite.describe(`stores ${name}`, () => {
    for (const register of [concurrentUses, transactions]) register(tests);
  });
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
