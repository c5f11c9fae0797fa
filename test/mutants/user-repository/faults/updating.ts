import type { UserRepository } from '../../../../src/application/ports/user-repository.ts';
import { duplicateUser } from '../../../../src/domain/errors/app-error.ts';
import { canonicalUsername, type User } from '../../../../src/domain/user.ts';
import { mutex } from '../../harness/mutex.ts';
import type { Access } from '../../harness/shared-rows.ts';
import { changedBy, hasValues, refuseTaken } from '../correct.ts';
import type { Faults } from './fault.ts';

const VALUES = 'changes them only if the given ones still have their values';
const FIELDS = 'changes the other fields, and the time of the update';

/** Reads, checks and writes in steps of their own. */
const updateInSteps =
  (access: Access<User>): UserRepository['update'] =>
  async (id, { now, ...change }, onlyIf = {}) => {
    const user = await access((rows) => rows.get(id));
    if (user === undefined || !hasValues(user, onlyIf)) return null;
    const changed = changedBy(user, change, now);
    await access((rows) => refuseTaken(rows, changed));
    await access((rows) => rows.set(changed));
    return changed;
  };

export const UPDATING: Faults = {
  'ignores which values the fields must have': {
    wrong: (_connection, correct) => ({ update: (id, change) => correct.update(id, change) }),
    caughtBy: VALUES,
  },
  'compares no value that must be null': {
    wrong: (_connection, correct) => ({
      update: (id, change, onlyIf = {}) =>
        correct.update(id, change, Object.fromEntries(Object.entries(onlyIf).filter(([, value]) => value !== null))),
    }),
    caughtBy: VALUES,
  },
  'compares one of the values': {
    wrong: (_connection, correct) => ({
      update: (id, change, onlyIf = {}) =>
        correct.update(id, change, Object.fromEntries(Object.entries(onlyIf).slice(0, 1))),
    }),
    caughtBy: VALUES,
  },
  'returns the user as it was before': {
    wrong: (_connection, correct) => ({
      update: async (id, change, onlyIf) => {
        const before = await correct.findById(id);
        return (await correct.update(id, change, onlyIf)) && before;
      },
    }),
    caughtBy: FIELDS,
  },
  'keeps the time of the last update': {
    wrong: ({ access }, correct) => ({
      update: async (id, change, onlyIf) => {
        const before = await correct.findById(id);
        const changed = await correct.update(id, { ...change, now: before?.updatedAt ?? 0 }, onlyIf);
        await access(() => undefined);
        return changed;
      },
    }),
    caughtBy: FIELDS,
  },
  'cannot set a field to null': {
    wrong: (_connection, correct) => ({
      update: (id, { now, ...change }, onlyIf) =>
        correct.update(
          id,
          { ...Object.fromEntries(Object.entries(change).filter(([, value]) => value !== null)), now },
          onlyIf,
        ),
    }),
    caughtBy: FIELDS,
  },
  'takes a user for another who has the same name': {
    wrong: ({ access }, correct) => ({
      update: async (id, change, onlyIf) => {
        const names = await access((rows) => rows.all().map(({ username }) => canonicalUsername(username)));
        const isTaken = names.includes(canonicalUsername(change.username ?? ''));
        return isTaken ? null : correct.update(id, change, onlyIf);
      },
    }),
    caughtBy: FIELDS,
  },
  'stores a new email as it is given': {
    wrong: ({ access }, correct) => ({
      update: async (id, change, onlyIf) => {
        const changed = await correct.update(id, change, onlyIf);
        if (changed === null || change.email === undefined) return changed;
        const stored = { ...changed, email: change.email };
        await access((rows) => rows.set(stored));
        return stored;
      },
    }),
    caughtBy: FIELDS,
  },
  'adds an unknown user': {
    wrong: ({ access }, correct) => ({
      update: async (id, change, onlyIf) => {
        const [known] = await access((rows) => rows.all());
        const exists = await access((rows) => rows.get(id) !== undefined);
        if (known !== undefined && !exists) await access((rows) => rows.set({ ...known, id, username: id, email: id }));
        return correct.update(id, change, onlyIf);
      },
    }),
    caughtBy: 'changes no fields of an unknown user',
  },
  'finds the user to be changed by the username, too': {
    wrong: ({ access }, correct) => ({
      update: async (id, change, onlyIf) => {
        const user = await access((rows) => rows.all().find(({ username }) => username === id));
        return correct.update(user?.id ?? id, change, onlyIf);
      },
    }),
    caughtBy: 'changes no fields of an unknown user',
  },
  'keeps a name that was given up taken': {
    wrong: (_connection, correct) => {
      const given = new Set<string>();
      return {
        update: async (id, change, onlyIf) => {
          const before = await correct.findById(id);
          const changed = await correct.update(id, change, onlyIf);
          if (changed !== null && before !== null) given.add(before.username);
          return changed;
        },
        add: async (user) => {
          if (!given.has(user.username)) await correct.add(user);
        },
      };
    },
    caughtBy: 'frees the username and the email that a user gives up',
  },
  'accepts an email that another user has': {
    wrong: ({ access }) => ({
      update: (id, { now, ...change }, onlyIf = {}) =>
        access((rows) => {
          const user = rows.get(id);
          if (user === undefined || !hasValues(user, onlyIf)) return null;
          const changed = changedBy(user, change, now);
          refuseTaken(rows, { ...changed, email: '' });
          rows.set(changed);
          return changed;
        }),
    }),
    caughtBy: 'rejects a username or an email that another user has, names it, and changes nothing',
  },
  'calls any name that is taken a username': {
    wrong: (_connection, correct) => ({
      update: (id, change, onlyIf) =>
        correct.update(id, change, onlyIf).catch((error) => {
          throw error.code === 'AUTH_USER_DUPLICATE' ? duplicateUser('username') : error;
        }),
    }),
    caughtBy: 'rejects a username or an email that another user has, names it, and changes nothing',
  },
  'changes the fields that it can when a name is taken': {
    wrong: (_connection, correct) => ({
      update: async (id, { username, email, ...rest }, onlyIf) => {
        const changed = await correct.update(id, rest, onlyIf);
        if (changed === null) return null;
        const names = { ...(username !== undefined && { username }), ...(email !== undefined && { email }) };
        return correct.update(id, { ...names, now: rest.now });
      },
    }),
    caughtBy: 'rejects a username or an email that another user has, names it, and changes nothing',
  },
  'checks whether a name is taken, and then changes it': {
    wrong: ({ access }) => ({ update: updateInSteps(access) }),
    caughtBy: 'accepts exactly one of many concurrent changes to the same username or email',
  },
  'checks whether a name is taken under a lock of its own process': {
    wrong: ({ access }) => {
      const exclusively = mutex();
      return { update: (id, change, onlyIf) => exclusively(() => updateInSteps(access)(id, change, onlyIf)) };
    },
    caughtBy: 'accepts exactly one of two changes to the same username or email by two instances',
  },
  'checks the values under a lock of its own process': {
    wrong: ({ access }, correct) => {
      const exclusively = mutex();
      return {
        update: (id, change, onlyIf = {}) =>
          exclusively(async () => {
            const user = await access((rows) => rows.get(id));
            return user !== undefined && hasValues(user, onlyIf) ? correct.update(id, change) : null;
          }),
      };
    },
    caughtBy: 'accepts exactly one of two changes of the same value by two instances',
  },
};
