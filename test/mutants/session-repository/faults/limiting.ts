import { AppError } from '../../../../src/domain/errors/app-error.ts';
import { byLastUse, SESSIONS_PER_USER, type Session } from '../../../../src/domain/session.ts';
import type { Access, Rows } from '../../harness/shared-rows.ts';
import { liveOf, ofUser, removeAll } from '../correct.ts';
import type { Faults } from './fault.ts';

/** An add that evicts other sessions. */
const addBy =
  (access: Access<Session>, evicted: (rows: Rows<Session>, added: Session) => Session[]) => (session: Session) =>
    access((rows) => {
      if (rows.get(session.id) !== undefined) throw new AppError('DB_UNIQUE_VIOLATION');
      rows.set(session);
      return removeAll(rows, evicted(rows, session));
    });

export const LIMITING: Faults = {
  'keeps every session': {
    wrong: ({ access }) => ({ add: addBy(access, () => []) }),
    caughtBy: 'keeps the 50 most recently used live sessions of a user',
  },
  'ends the oldest sessions, though they were used last': {
    wrong: ({ access }) => ({
      add: addBy(access, (rows, { userId, createdAt }) =>
        liveOf(rows, userId, createdAt)
          .sort((a, b) => (a.id < b.id ? 1 : -1))
          .slice(SESSIONS_PER_USER),
      ),
    }),
    caughtBy: 'keeps the 50 most recently used live sessions of a user',
  },
  'ends no session that was used at the same time as one that is kept': {
    wrong: ({ access }) => ({
      add: addBy(access, (rows, { userId, createdAt }) => {
        const live = liveOf(rows, userId, createdAt);
        const last = live[SESSIONS_PER_USER - 1];
        return live.filter(({ rotatedAt }) => last !== undefined && rotatedAt < last.rotatedAt);
      }),
    }),
    caughtBy: 'keeps the newest 50 of sessions that were used at the same time',
  },
  'ends the newest of the sessions that were used at the same time': {
    wrong: ({ access }) => ({
      add: addBy(access, (rows, { userId, createdAt }) =>
        liveOf(rows, userId, createdAt)
          .sort((a, b) => b.rotatedAt - a.rotatedAt || (a.id < b.id ? -1 : 1))
          .slice(SESSIONS_PER_USER),
      ),
    }),
    caughtBy: 'keeps the newest 50 of sessions that were used at the same time',
  },
  'counts expired sessions': {
    wrong: ({ access }) => ({
      add: addBy(access, (rows, { userId }) => ofUser(rows, userId).sort(byLastUse).slice(SESSIONS_PER_USER)),
    }),
    caughtBy: 'does not count expired sessions towards the 50',
  },
  'counts the sessions of all users': {
    wrong: ({ access }) => ({
      add: addBy(access, (rows) => rows.all().sort(byLastUse).slice(SESSIONS_PER_USER)),
    }),
    caughtBy: 'keeps the 50 most recently used live sessions of a user',
  },
  'ends one session at most with each add': {
    wrong: ({ access }) => ({
      add: addBy(access, (rows, { userId, createdAt }) =>
        liveOf(rows, userId, createdAt).slice(SESSIONS_PER_USER).slice(-1),
      ),
    }),
    caughtBy: 'evicts all sessions beyond the limit with the next add, however they arose, and returns their ids',
  },
  'does not say which sessions gave way': {
    wrong: (_connection, correct) => ({
      add: async (session) => {
        await correct.add(session);
        return [];
      },
    }),
    caughtBy: 'evicts all sessions beyond the limit with the next add, however they arose, and returns their ids',
  },
  'says that expired sessions gave way': {
    wrong: ({ access }, correct) => ({
      add: async (session) => {
        const expired = await access((rows) =>
          ofUser(rows, session.userId).filter(({ expiresAt }) => expiresAt <= session.createdAt),
        );
        return [...(await correct.add(session)), ...expired.map(({ id }) => id)];
      },
    }),
    caughtBy: 'does not count expired sessions towards the 50',
  },
  'counts the sessions that its own process has added': {
    wrong: ({ access }) => {
      const added = new Set<string>();
      return {
        add: (session) => {
          added.add(session.id);
          return addBy(access, (rows, { userId, createdAt }) =>
            liveOf(rows, userId, createdAt)
              .filter(({ id }) => added.has(id))
              .slice(SESSIONS_PER_USER),
          )(session);
        },
      };
    },
    caughtBy: 'keeps exactly these 50 after many adds by two instances',
  },
  'counts before it adds, in a step of its own': {
    wrong: ({ access }, correct) => ({
      add: async (session) => {
        const { userId, createdAt } = session;
        const evicted = await access((rows) => liveOf(rows, userId, createdAt).slice(SESSIONS_PER_USER - 1));
        if (evicted.length > 0) return correct.add(session);
        await access((rows) => rows.set(session));
        return [];
      },
    }),
    caughtBy: 'keeps exactly these 50 after many concurrent adds',
  },
};
