import type { UserRepository } from '../../../src/application/ports/user-repository.ts';
import { duplicateUser } from '../../../src/domain/errors/app-error.ts';
import { NOW } from '../../support/builders.ts';
import { type Absent, offered, type StoreHooks } from '../hooks.ts';
import type { Run } from '../suite.ts';

/** An adapter under test, and what the contract does with its store. A hook that cannot be offered is `absent(why)`. */
export type UserStore = StoreHooks<UserRepository> & {
  readonly repository: UserRepository;
  readonly close?: () => Promise<void>;
};

/** What each test of the contract is given. */
export type GivenUsers = Awaited<ReturnType<typeof givenUsers>>;

export const ANOTHER = { passwordHash: 'another hash', isOfNewPassword: true, now: NOW + 5 };
export const DUPLICATE = { name: 'AppError', code: 'AUTH_USER_DUPLICATE' };
export const duplicate = (taken: 'username' | 'email') => ({ ...DUPLICATE, message: duplicateUser(taken).message });

/** The same text in alternating letter case. */
export const alternated = (text: string): string =>
  [...text].map((letter, at) => (at % 2 === 0 ? letter.toUpperCase() : letter.toLowerCase())).join('');

export const givenUsers = async (make: () => Promise<UserStore>, run: Run) => {
  const store = await make();
  /** A hook of the store; without it, the test is skipped. */
  const hook = <Name extends 'another' | 'failing'>(name: Name): Exclude<UserStore[Name], Absent> =>
    offered<Exclude<UserStore[Name], Absent>>(store[name] as never, run);
  return { store, users: store.repository, hook };
};
