import type { UserRepository } from '../../../src/application/ports/user-repository.ts';
import { canonicalEmail, canonicalUsername } from '../../../src/domain/account.ts';
import { AppError } from '../../../src/domain/errors/app-error.ts';
import type { User } from '../../../src/domain/user.ts';
import { type Access, translating } from '../harness/shared-rows.ts';
import { correctUsers, isTaken } from './correct.ts';

type Wrong = (
  connection: { readonly access: Access<User>; readonly untranslated: Access<User> },
  correct: UserRepository,
) => Partial<UserRepository>;

/** The methods of an adapter that are wrong, and the title of the test that has to catch it. */
type Fault = { readonly wrong: Wrong; readonly caughtBy: string };

/** The correct adapter, except for this fault. */
export const withFault =
  ({ wrong }: Fault) =>
  (untranslated: Access<User>): UserRepository => {
    const correct = correctUsers(untranslated);
    return { ...correct, ...wrong({ access: translating(untranslated), untranslated }, correct) };
  };

/** One after the other within this process, as with a lock of its own. */
const inTurn = () => {
  let last: Promise<unknown> = Promise.resolve();
  return <Result>(work: () => Promise<Result>): Promise<Result> => {
    const turn = last.then(work, work);
    last = turn.catch(() => undefined);
    return turn;
  };
};

const FAILS = 'rejects with DB_QUERY_FAILED alone when its store fails, and repeats nothing that is stored';

const add = (access: Access<User>) => async (user: User) => {
  const taken = await access((rows) => isTaken(rows, user));
  if (taken) throw new AppError('AUTH_USER_DUPLICATE');
  await access((rows) => rows.set(user));
};

const replaceHash =
  (access: Access<User>): UserRepository['setPasswordHash'] =>
  async (id, { passwordHash, now, replaces }) => {
    const user = await access((rows) => rows.get(id));
    if (user === undefined || (replaces !== undefined && user.passwordHash !== replaces)) return false;
    await access((rows) => rows.set({ ...user, passwordHash, updatedAt: now, passwordChangedAt: now }));
    return true;
  };

/** By what is wrong. */
export const FAULTS: Readonly<Record<string, Fault>> = {
  'stores an email as it is given': {
    wrong: ({ access }) => ({
      add: (user) =>
        access((rows) => {
          if (rows.get(user.id) !== undefined) throw new AppError('DB_UNIQUE_VIOLATION');
          if (isTaken(rows, user)) throw new AppError('AUTH_USER_DUPLICATE');
          rows.set(user);
        }),
      findByEmail: (address) =>
        access((rows) => rows.all().find(({ email }) => canonicalEmail(email) === canonicalEmail(address)) ?? null),
    }),
    caughtBy: 'finds an email in any letter case, and returns it in canonical form',
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
          const pattern = name
            .replaceAll(/[.*+?^$()|[\]\\{}]/g, '\\$&')
            .replaceAll('%', '.*')
            .replaceAll('_', '.');
          return rows.all().find(({ username }) => new RegExp(`^${pattern}$`, 'i').test(username)) ?? null;
        }),
    }),
    caughtBy: 'returns null for an unknown user',
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
    wrong: (_connection, correct) => {
      const cache = new Map<string, User | null>();
      return {
        findById: async (id) => {
          const found = cache.get(id) ?? (await correct.findById(id));
          cache.set(id, found);
          return found;
        },
        setPasswordHash: async (id, hash) => correct.setPasswordHash(id, hash).finally(() => cache.delete(id)),
      };
    },
    caughtBy: 'is not affected by changes to a user that it was given or has returned',
  },
  'reads a user from a cache after another instance has changed it': {
    wrong: (_connection, correct) => {
      const cache = new Map<string, User | null>();
      return {
        findByEmail: async (email) => {
          const key = canonicalEmail(email);
          const found = cache.get(key) ?? (await correct.findByEmail(email));
          cache.set(key, structuredClone(found));
          return structuredClone(found);
        },
        add: async (user) => {
          await correct.add(user);
          cache.set(canonicalEmail(user.email), structuredClone(user));
        },
      };
    },
    caughtBy: 'returns what another instance over the same store has written',
  },
  'accepts the same username in another letter case': {
    wrong: ({ access }) => ({
      add: (user) =>
        access((rows) => {
          if (rows.all().some(({ username }) => username === user.username)) throw new AppError('AUTH_USER_DUPLICATE');
          rows.set(user);
        }),
    }),
    caughtBy: 'rejects a second user with the same username, in any letter case',
  },
  'accepts the same email twice': {
    wrong: ({ access }) => ({
      add: (user) =>
        access((rows) => {
          const name = canonicalUsername(user.username);
          if (rows.all().some(({ username }) => canonicalUsername(username) === name))
            throw new AppError('AUTH_USER_DUPLICATE');
          rows.set({ ...user, email: canonicalEmail(user.email) });
        }),
    }),
    caughtBy: 'rejects a second user with the same email, in any letter case',
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
  'checks whether a name is taken, and then adds': {
    wrong: ({ access }) => ({ add: add(access) }),
    caughtBy: 'accepts exactly one of many concurrent adds with the same username',
  },
  'checks whether a name is taken under a lock of its own process': {
    wrong: ({ access }) => {
      const turn = inTurn();
      return { add: (user) => turn(() => add(access)(user)) };
    },
    caughtBy: 'accepts exactly one of two adds with the same username or email by two instances',
  },
  'ignores which hash is to be replaced': {
    wrong: (_connection, correct) => ({
      setPasswordHash: (id, { replaces: _, ...hash }) => correct.setPasswordHash(id, hash),
    }),
    caughtBy: 'changes the hash only if the one to be replaced is still stored',
  },
  'checks the hash to be replaced, and then replaces it': {
    wrong: ({ access }) => ({ setPasswordHash: replaceHash(access) }),
    caughtBy: 'accepts exactly one of many concurrent replacements of the same hash',
  },
  'checks the hash to be replaced under a lock of its own process': {
    wrong: ({ access }) => {
      const turn = inTurn();
      return { setPasswordHash: (id, hash) => turn(() => replaceHash(access)(id, hash)) };
    },
    caughtBy: 'accepts exactly one of two replacements of the same hash by two instances',
  },
  'takes every new hash for a new password': {
    wrong: (_connection, correct) => ({
      setPasswordHash: (id, hash) => correct.setPasswordHash(id, { ...hash, isOfNewPassword: true }),
    }),
    caughtBy: 'records when the password was last changed, but not for a new hash of the same password',
  },
  'does not record when the password was changed': {
    wrong: (_connection, correct) => ({
      setPasswordHash: (id, hash) => correct.setPasswordHash(id, { ...hash, isOfNewPassword: false }),
    }),
    caughtBy: 'changes the password hash of a user, and the time of the update',
  },
  'changes the hashes of all users': {
    wrong: ({ access }, correct) => ({
      setPasswordHash: async (id, hash) => {
        const ids = await access((rows) => rows.all().map((user) => user.id));
        const changed = await correct.setPasswordHash(id, hash);
        for (const other of changed ? ids : []) await correct.setPasswordHash(other, hash);
        return changed;
      },
    }),
    caughtBy: 'changes the password hash of a user, and the time of the update',
  },
  'says that it changed a user who does not exist': {
    wrong: (_connection, correct) => ({
      setPasswordHash: async (id, hash) => {
        await correct.setPasswordHash(id, hash);
        return true;
      },
    }),
    caughtBy: 'returns false for an unknown user',
  },
  'lets errors of its driver through': {
    wrong: ({ untranslated }) => ({ findById: (id) => untranslated((rows) => rows.get(id) ?? null) }),
    caughtBy: FAILS,
  },
  'quotes the driver in the error': {
    wrong: ({ untranslated }) => ({
      findByEmail: () =>
        untranslated(() => null).catch((error: unknown) => {
          throw new AppError('DB_QUERY_FAILED', { reason: String(error) });
        }),
    }),
    caughtBy: FAILS,
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
