import type { UserRepository } from '../../../../src/application/ports/user-repository.ts';
import { AppError } from '../../../../src/domain/errors/app-error.ts';
import { canonicalEmail, canonicalUsername, type User } from '../../../../src/domain/user.ts';
import { refuseTaken } from '../correct.ts';
import { type Faults, patternOf } from './fault.ts';

const FAILS = 'rejects with DB_QUERY_FAILED alone when its store fails, and repeats nothing that is stored';

/** Finds users in a cache, which every write of the same process empties. */
const cached = (correct: UserRepository, copy: (user: User) => User): Partial<UserRepository> => {
  const cache = new Map<string, User>();
  return {
    add: (user) => correct.add(user).finally(() => cache.clear()),
    setPasswordHash: (id, hash) => correct.setPasswordHash(id, hash).finally(() => cache.clear()),
    update: (id, change, onlyIf) => correct.update(id, change, onlyIf).finally(() => cache.clear()),
    findById: async (id) => {
      const found = cache.get(id) ?? (await correct.findById(id));
      if (found !== null) cache.set(id, copy(found));
      return found && copy(found);
    },
  };
};

export const FINDING: Faults = {
  'stores an email as it is given': {
    wrong: ({ access }) => ({
      add: (user) =>
        access((rows) => {
          if (rows.get(user.id) !== undefined) throw new AppError('DB_UNIQUE_VIOLATION');
          refuseTaken(rows, user);
          rows.set(user);
        }),
      findByEmail: (address) =>
        access((rows) => rows.all().find(({ email }) => canonicalEmail(email) === canonicalEmail(address)) ?? null),
    }),
    caughtBy: 'finds an email in any letter case, and returns it in canonical form',
  },
  'locks without returning the user': {
    wrong: () => ({ lock: async () => null }),
    caughtBy: 'returns the user that it locks, and null for an unknown one',
  },
  'finds an email only as it is stored': {
    wrong: ({ access }) => ({
      findByEmail: (address) => access((rows) => rows.all().find(({ email }) => email === address) ?? null),
    }),
    caughtBy: 'finds an email in any letter case, and returns it in canonical form',
  },
  'finds a username only as it was registered': {
    wrong: ({ access }) => ({
      findByUsername: (name) => access((rows) => rows.all().find(({ username }) => username === name) ?? null),
    }),
    caughtBy: 'finds a username in any letter case, and returns it as it was registered',
  },
  'returns a username in lower case': {
    wrong: (_connection, correct) => ({
      add: (user) => correct.add({ ...user, username: canonicalUsername(user.username) }),
    }),
    caughtBy: 'finds a username in any letter case, and returns it as it was registered',
  },
  'takes a username for a pattern': {
    wrong: ({ access }) => ({
      findByUsername: (name) =>
        access((rows) => {
          const pattern = patternOf(name);
          return rows.all().find(({ username }) => pattern.test(username)) ?? null;
        }),
    }),
    caughtBy: 'returns null for an unknown user',
  },
  'takes an email for a pattern': {
    wrong: ({ access }) => ({
      findByEmail: (address) =>
        access((rows) => {
          const pattern = patternOf(address);
          return rows.all().find(({ email }) => pattern.test(email)) ?? null;
        }),
    }),
    caughtBy: 'distinguishes names that only resemble each other',
  },
  'compares usernames by the rules of Turkish': {
    wrong: ({ access }) => ({
      findByUsername: (name) =>
        access((rows) => {
          const sought = name.toLocaleLowerCase('tr');
          return rows.all().find(({ username }) => username.toLocaleLowerCase('tr') === sought) ?? null;
        }),
    }),
    caughtBy: 'finds a username in any letter case, and returns it as it was registered',
  },
  'ends a name at a NUL': {
    wrong: (_connection, correct) => ({
      findByUsername: (name) => correct.findByUsername(name.split('\0')[0] ?? ''),
    }),
    caughtBy: 'returns null for a name that cannot be stored',
  },
  'ignores spaces around an id': {
    wrong: (_connection, correct) => ({ findById: (id) => correct.findById(id.trim()) }),
    caughtBy: 'distinguishes an id from the same id with spaces around it',
  },
  'returns the same object again from a cache': {
    wrong: (_connection, correct) => cached(correct, (user) => user),
    caughtBy: 'is not affected by changes to a user that it was given or has returned',
  },
  'finds a user in a cache after another instance has changed it': {
    wrong: (_connection, correct) => cached(correct, (user) => structuredClone(user)),
    caughtBy: 'returns what another instance over the same store has written',
  },
  'lets errors of its driver through': {
    wrong: ({ untranslated }) => ({ findById: (id) => untranslated((rows) => rows.get(id) ?? null) }),
    caughtBy: FAILS,
  },
  'quotes the driver in the error': {
    wrong: ({ untranslated }, correct) => ({
      findByEmail: async (email) => {
        await untranslated(() => undefined).catch((error: unknown) => {
          throw new AppError('DB_QUERY_FAILED', { reason: String(error) });
        });
        return correct.findByEmail(email);
      },
    }),
    caughtBy: FAILS,
  },
};
