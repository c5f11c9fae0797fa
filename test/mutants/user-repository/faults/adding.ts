import { AppError, duplicateUser } from '../../../../src/domain/errors/app-error.ts';
import { canonicalEmail, canonicalUsername, type User } from '../../../../src/domain/user.ts';
import { mutex } from '../../harness/mutex.ts';
import type { Access } from '../../harness/shared-rows.ts';
import { refuseTaken, takenOf } from '../correct.ts';
import { type Faults, patternOf } from './fault.ts';

const FAILS = 'rejects with DB_QUERY_FAILED alone when its store fails, and repeats nothing that is stored';

const add = (access: Access<User>) => async (user: User) => {
  await access((rows) => refuseTaken(rows, user));
  await access((rows) => rows.set(user));
};

export const ADDING: Faults = {
  'accepts the same username in another letter case': {
    wrong: ({ access }) => ({
      add: (user) =>
        access((rows) => {
          if (rows.all().some(({ username }) => username === user.username)) throw duplicateUser('username');
          rows.set(user);
        }),
    }),
    caughtBy: 'rejects a second user with the same username, in any letter case, and names it',
  },
  'takes a new name for a pattern when it compares it with those that are taken': {
    wrong: ({ access }, correct) => ({
      add: async (user) => {
        const isLike = patternOf(user.username);
        if (await access((rows) => rows.all().some(({ username }) => isLike.test(username))))
          throw duplicateUser('username');
        await correct.add(user);
      },
    }),
    caughtBy: 'distinguishes names that only resemble each other',
  },
  'stores the time of the creation in seconds': {
    wrong: (_connection, correct) => ({
      add: (user) => correct.add({ ...user, createdAt: Math.floor(user.createdAt / 1_000) * 1_000 }),
    }),
    caughtBy: 'finds a user by id, by username and by email',
  },
  'forgets the language': {
    wrong: (_connection, correct) => ({ add: (user) => correct.add({ ...user, locale: null }) }),
    caughtBy: 'finds a user by id, by username and by email',
  },
  'shortens an email': {
    wrong: (_connection, correct) => ({ add: (user) => correct.add({ ...user, email: user.email.slice(0, 128) }) }),
    caughtBy: 'stores names of the greatest length, and distinguishes them by their last character',
  },
  'compares the first 64 characters of an email': {
    wrong: ({ access }, correct) => ({
      findByEmail: (address) =>
        access((rows) => {
          const start = canonicalEmail(address).slice(0, 64);
          return rows.all().find(({ email }) => email.slice(0, 64) === start) ?? null;
        }),
      add: correct.add,
    }),
    caughtBy: 'stores names of the greatest length, and distinguishes them by their last character',
  },
  'accepts the same email twice': {
    wrong: ({ access }) => ({
      add: (user) =>
        access((rows) => {
          const name = canonicalUsername(user.username);
          if (rows.all().some(({ username }) => canonicalUsername(username) === name)) throw duplicateUser('username');
          rows.set({ ...user, email: canonicalEmail(user.email) });
        }),
    }),
    caughtBy: 'rejects a second user with the same email, in any letter case, and names it',
  },
  'does not say which name is taken': {
    wrong: (_connection, correct) => ({
      add: (user) =>
        correct.add(user).catch(({ code }) => {
          throw new AppError(code);
        }),
    }),
    caughtBy: 'rejects a second user with the same username, in any letter case, and names it',
  },
  'replaces a user that has the same id': {
    wrong: ({ access }) => ({ add: (user) => access((rows) => rows.set(user)) }),
    caughtBy: 'rejects a second user with the same id',
  },
  'calls every violation a duplicate user': {
    wrong: (_connection, correct) => ({
      add: (user) =>
        correct.add(user).catch(() => {
          throw new AppError('AUTH_USER_DUPLICATE');
        }),
    }),
    caughtBy: 'rejects a second user with the same id',
  },
  'adds a user, and then sees that a name is taken': {
    wrong: ({ access }) => ({
      add: (user) =>
        access((rows) => {
          if (rows.get(user.id) !== undefined) throw new AppError('DB_UNIQUE_VIOLATION');
          const taken = takenOf(rows, user);
          rows.set({ ...user, email: canonicalEmail(user.email) });
          if (taken !== null) throw duplicateUser(taken);
        }),
    }),
    caughtBy: 'stores nothing of a rejected user',
  },
  'checks whether a name is taken, and then adds': {
    wrong: ({ access }) => ({ add: add(access) }),
    caughtBy: 'accepts exactly one of many concurrent adds with the same username',
  },
  'checks whether a name is taken, and then adds, under a lock of its own process': {
    wrong: ({ access }) => {
      const exclusively = mutex();
      return { add: (user) => exclusively(() => add(access)(user)) };
    },
    caughtBy: 'accepts exactly one of two adds with the same username or email by two instances',
  },
  'takes any failure of an add for a duplicate': {
    wrong: ({ untranslated }, correct) => ({
      add: (user) =>
        untranslated(() => undefined).then(
          () => correct.add(user),
          () => {
            throw new AppError('AUTH_USER_DUPLICATE');
          },
        ),
    }),
    caughtBy: FAILS,
  },
};
