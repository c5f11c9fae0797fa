import type { SessionRepository } from '../../../../src/application/ports/session-repository.ts';
import { AppError } from '../../../../src/domain/errors/app-error.ts';
import { partWithUser, type Session } from '../../../../src/domain/session.ts';
import { findIn } from '../correct.ts';
import { byIdAlone, type Faults } from './fault.ts';

/** Finds sessions in a cache, which every write of the same process empties. */
const cached = (correct: SessionRepository, copy: (session: Session) => Session): Partial<SessionRepository> => {
  const cache = new Map<string, Session>();
  const emptying =
    <Given extends unknown[], Result>(write: (...given: Given) => Promise<Result>) =>
    (...given: Given): Promise<Result> =>
      write(...given).finally(() => cache.clear());
  return {
    add: emptying(correct.add),
    rotate: emptying(correct.rotate),
    revert: emptying(correct.revert),
    end: emptying(correct.end),
    endByUser: emptying(correct.endByUser),
    purge: emptying(correct.purge),
    find: async ({ id, userId }) => {
      const found = cache.get(`${id} of ${userId}`) ?? (await correct.find({ id, userId }));
      if (found !== null) cache.set(`${id} of ${userId}`, copy(found));
      return found && copy(found);
    },
  };
};

export const ADDING: Faults = {
  'replaces a session that has the same id': {
    wrong: ({ access }) => ({
      add: (session) =>
        access((rows) => {
          rows.set(session);
          return [];
        }),
    }),
    caughtBy: 'rejects a second session with the same id and user, and keeps the first',
  },
  'stores sessions of nobody': {
    wrong: ({ access }, correct) => ({
      add: (session) =>
        correct.add(session).catch((error: unknown) => {
          if (!(error instanceof AppError) || error.code !== 'DB_QUERY_FAILED') throw error;
          return access((rows) => {
            rows.set(session);
            return [];
          });
        }),
    }),
    caughtBy: 'rejects a session of a user who is not stored',
  },
  'stores the object that it is given': {
    wrong: ({ access }, correct) => {
      const given = new Map<string, Session>();
      return {
        add: async (session) => {
          const evicted = await correct.add(session);
          given.set(session.id, session);
          return evicted;
        },
        find: (key) => access((rows) => (findIn(rows, key) === null ? null : (given.get(key.id) ?? null))),
      };
    },
    caughtBy: 'is not affected by changes to a session that it was given or has returned',
  },
  'returns the same object again from a cache': {
    wrong: (_connection, correct) => cached(correct, (session) => session),
    caughtBy: 'is not affected by changes to a session that it was given or has returned',
  },
  'finds a user with a session of another user': {
    wrong: ({ access, users }) => ({
      findWithUser: ({ id, userId }) =>
        access((rows) => {
          const user = users.find((each) => each.id === userId);
          const session = rows.get(id);
          return user === undefined ? null : { user: { ...user }, session: session ? partWithUser(session) : null };
        }),
    }),
    caughtBy: 'finds a user with a session, and without one when the user has no such session',
  },
  'finds no user without a session': {
    wrong: (_connection, correct) => ({
      findWithUser: async (key) => ((await correct.find(key)) === null ? null : correct.findWithUser(key)),
    }),
    caughtBy: 'finds a user with a session, and without one when the user has no such session',
  },
  'finds the user of a session, whichever user is asked for': {
    wrong: ({ access }, correct) => ({
      findWithUser: async ({ id, userId }) => {
        const session = await access((rows) => rows.get(id));
        return correct.findWithUser(session ?? { id, userId });
      },
    }),
    caughtBy: 'finds no user who is not stored',
  },
  'returns the user that is stored': {
    wrong: ({ users }, correct) => ({
      findWithUser: async (key) => {
        const found = await correct.findWithUser(key);
        return found && { ...found, user: users.find(({ id }) => id === key.userId) ?? found.user };
      },
    }),
    caughtBy: 'is not affected by changes to a session that it was given or has returned',
  },
  'finds a session in a cache after another instance has changed it': {
    wrong: (_connection, correct) => cached(correct, (session) => structuredClone(session)),
    caughtBy: 'returns what another instance over the same store has written',
  },
  'finds a session whatever its user': {
    wrong: ({ access }) => ({ find: (key) => access((rows) => byIdAlone(rows, key)) }),
    caughtBy: 'does not find an unknown session, or one of another user',
  },
  'ignores trailing spaces in an id': {
    wrong: ({ access }) => ({ find: ({ id, userId }) => access((rows) => findIn(rows, { id: id.trim(), userId })) }),
    caughtBy: 'distinguishes an id from the same id with trailing spaces',
  },
  'stores the time of the creation in seconds': {
    wrong: (_connection, correct) => ({
      add: (session) => correct.add({ ...session, createdAt: Math.floor(session.createdAt / 1_000) * 1_000 }),
    }),
    caughtBy: 'finds a session by its id and its user',
  },
  'shortens the name of a device': {
    wrong: (_connection, correct) => ({
      add: (session) => correct.add({ ...session, userAgent: session.userAgent?.slice(0, 199) ?? null }),
    }),
    caughtBy: 'finds a session by its id and its user',
  },
  'forgets the device of a session': {
    wrong: (_connection, correct) => ({ add: (session) => correct.add({ ...session, userAgent: null }) }),
    caughtBy: 'finds a session by its id and its user',
  },
};
