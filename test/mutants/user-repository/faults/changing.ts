import type { UserRepository } from '../../../../src/application/ports/user-repository.ts';
import type { User } from '../../../../src/domain/user.ts';
import { mutex } from '../../harness/mutex.ts';
import type { Access } from '../../harness/shared-rows.ts';
import type { Faults } from './fault.ts';

const replaceHash =
  (access: Access<User>): UserRepository['setPasswordHash'] =>
  async (id, { passwordHash, now, replaces }) => {
    const user = await access((rows) => rows.get(id));
    if (user === undefined || (replaces !== undefined && user.passwordHash !== replaces)) return false;
    await access((rows) => rows.set({ ...user, passwordHash, updatedAt: now, passwordChangedAt: now }));
    return true;
  };

export const CHANGING: Faults = {
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
      const exclusively = mutex();
      return { setPasswordHash: (id, hash) => exclusively(() => replaceHash(access)(id, hash)) };
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
  'keeps the row of a removed user, without an id': {
    wrong: ({ access }) => ({
      remove: (id) =>
        access((rows) => {
          const user = rows.get(id);
          if (user === undefined) return;
          rows.delete(id);
          rows.set({ ...user, id: `removed ${id}` });
        }),
    }),
    caughtBy: 'removes a user, so that the username and the email are free again',
  },
  'removes all users': {
    wrong: ({ access }) => ({
      remove: () =>
        access((rows) => {
          for (const { id } of rows.all()) rows.delete(id);
        }),
    }),
    caughtBy: 'removes nothing when the user is unknown',
  },
  'finds the user to be removed by the username, too': {
    wrong: ({ access }, correct) => ({
      remove: async (id) => {
        const user = await access((rows) => rows.all().find(({ username }) => username === id));
        await correct.remove(user?.id ?? id);
      },
    }),
    caughtBy: 'removes nothing when the user is unknown',
  },
};
