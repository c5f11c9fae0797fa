import type { UserRepository, UsersQuery } from '../../../src/application/ports/user-repository.ts';
import { duplicateUser } from '../../../src/domain/errors/app-error.ts';
import type { User } from '../../../src/domain/user.ts';
import { aUser, NOW } from '../../support/builders.ts';
import { type Absent, absent, offered } from '../hooks.ts';
import type { Run } from '../suite.ts';

export const ANOTHER = { passwordHash: 'another hash', isOfNewPassword: true, now: NOW + 5 };
export const DUPLICATE = { name: 'AppError', code: 'AUTH_USER_DUPLICATE' };
export const duplicate = (taken: 'username' | 'email') => ({ ...DUPLICATE, message: duplicateUser(taken).message });

/** Users in a table of their own, which is empty. */
export type OpenedUsers = {
  readonly storage: { readonly users: UserRepository };
  readonly another: (() => Promise<{ readonly users: UserRepository }>) | Absent;
  readonly failing: (() => Promise<{ readonly users: UserRepository }>) | Absent;
  readonly close?: () => Promise<void>;
};

export const givenUsers = async (open: () => Promise<OpenedUsers>, run: Run) => {
  const { storage, another, failing, close = async () => undefined } = await open();
  const { users } = storage;
  return {
    users,
    another: typeof another === 'function' ? (await another()).users : users,
    /** Users of an application may have no list: then the test is skipped. */
    list: (query: UsersQuery) => offered(users.list ?? absent('it does not list users'), run)(query),
    failing: async () => (await offered<Exclude<typeof failing, Absent>>(failing, run)()).users,
    /** Stores users. */
    added: async <Given extends readonly Partial<User>[]>(...given: Given) => {
      const all = given.map((each) => aUser(each));
      for (const user of all) await users.add(user);
      return all as { -readonly [At in keyof Given]: User };
    },
    close,
  };
};
export type GivenUsers = Awaited<ReturnType<typeof givenUsers>>;

/** The same text in alternating letter case. */
export const alternated = (text: string): string =>
  [...text].map((letter, at) => (at % 2 === 0 ? letter.toUpperCase() : letter.toLowerCase())).join('');
