import { byLastUse } from '../../../../src/domain/session.ts';
import { liveOf, ofUser, removeAll } from '../correct.ts';
import type { Faults } from './fault.ts';

export const ENDING: Faults = {
  'ends a session of another user': {
    wrong: ({ access }) => ({ end: ({ id }) => access((rows) => rows.delete(id)) }),
    caughtBy: 'does not end a session of another user',
  },
  'always says that it ended a session': {
    wrong: (_connection, correct) => ({ end: async (key) => (await correct.end(key)) || true }),
    caughtBy: 'ends a session, and returns false when there is none',
  },
  'ends the sessions of all users': {
    wrong: ({ access }) => ({
      endByUser: (userId, exceptId) =>
        access((rows) => {
          const others = rows.all().filter(({ id }) => id !== exceptId);
          removeAll(rows, others);
          return others.filter((session) => session.userId === userId).map(({ id }) => id);
        }),
    }),
    caughtBy: 'ends all sessions of one user, and returns their ids',
  },
  'ends at most 25 sessions of a user': {
    wrong: ({ access }) => ({
      endByUser: (userId, exceptId) =>
        access((rows) => {
          const others = ofUser(rows, userId).filter(({ id }) => id !== exceptId);
          removeAll(rows, others.slice(0, 25));
          return others.map(({ id }) => id);
        }),
    }),
    caughtBy: 'ends all sessions of one user, and returns their ids',
  },
  'ends the session that was to be kept': {
    wrong: (_connection, correct) => ({ endByUser: (userId) => correct.endByUser(userId, null) }),
    caughtBy: 'ends all sessions of one user except one',
  },
  'does not say which sessions of a user it ended': {
    wrong: (_connection, correct) => ({
      endByUser: async (userId, exceptId) => {
        await correct.endByUser(userId, exceptId);
        return [];
      },
    }),
    caughtBy: 'ends all sessions of one user, and returns their ids',
  },
  'reads which sessions a user has, and then ends them': {
    wrong: ({ access }, correct) => ({
      endByUser: async (userId, exceptId) => {
        const ids = await access((rows) => ofUser(rows, userId).map(({ id }) => id));
        await correct.endByUser(userId, exceptId);
        return ids.filter((id) => id !== exceptId);
      },
    }),
    caughtBy: 'says of each session once that it ended, however many end it at the same time',
  },
  'says that the session that it kept was ended': {
    wrong: (_connection, correct) => ({
      endByUser: async (userId, exceptId) => [
        ...(await correct.endByUser(userId, exceptId)),
        ...(exceptId === null ? [] : [exceptId]),
      ],
    }),
    caughtBy: 'ends all sessions of one user except one',
  },
  'lists expired sessions': {
    wrong: ({ access }) => ({
      listByUser: (userId) => access((rows) => ofUser(rows, userId).sort(byLastUse)),
    }),
    caughtBy: 'lists the live sessions of one user, the most recently used first',
  },
  'lists a session in the millisecond of its expiry': {
    wrong: ({ access }) => ({
      listByUser: (userId, at) => access((rows) => liveOf(rows, userId, at - 1)),
    }),
    caughtBy: 'treats a session as expired at its expiry, and as live a millisecond before',
  },
  'lists the sessions in the order of their creation': {
    wrong: ({ access }) => ({
      listByUser: (userId, at) => access((rows) => liveOf(rows, userId, at).sort((a, b) => (a.id < b.id ? 1 : -1))),
    }),
    caughtBy: 'lists the live sessions of one user, the most recently used first',
  },
};
