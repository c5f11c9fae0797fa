import type { Session } from '../../../../src/domain/session.ts';
import { findIn } from '../correct.ts';
import { byIdAlone, type Faults } from './fault.ts';

export const ADDING: Faults = {
  'replaces a session that has the same id': {
    wrong: ({ access }) => ({ add: (session) => access((rows) => rows.set(session)) }),
    caughtBy: 'rejects a second session with the same id and user, and keeps the first',
  },
  'stores the object that it is given': {
    wrong: ({ access }, correct) => {
      const given = new Map<string, Session>();
      return {
        add: async (session) => {
          await correct.add(session);
          given.set(session.id, session);
        },
        find: (key) => access((rows) => (findIn(rows, key) === null ? null : (given.get(key.id) ?? null))),
      };
    },
    caughtBy: 'is not affected by changes to a session that it was given or has returned',
  },
  'returns the same object again from a cache': {
    wrong: (_connection, correct) => {
      const cache = new Map<string, Session | null>();
      return {
        find: async (key) => {
          const found = cache.get(key.id) ?? (await correct.find(key));
          cache.set(key.id, found);
          return found;
        },
      };
    },
    caughtBy: 'is not affected by changes to a session that it was given or has returned',
  },
  'reads a session from a cache after another instance has changed it': {
    wrong: (_connection, correct) => {
      const cache = new Map<string, Session | null>();
      const forget = (id: string) => void cache.delete(id);
      return {
        find: async (key) => {
          const found = cache.get(key.id) ?? (await correct.find(key));
          if (found !== null) cache.set(key.id, structuredClone(found));
          return structuredClone(found);
        },
        rotate: async (rotation) => correct.rotate(rotation).finally(() => forget(rotation.sessionId)),
        revert: async (rotation) => correct.revert(rotation).finally(() => forget(rotation.sessionId)),
        end: async (key) => correct.end(key).finally(() => forget(key.id)),
        add: async (session) => correct.add(session).finally(() => cache.set(session.id, structuredClone(session))),
      };
    },
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
  'forgets the device of a session': {
    wrong: (_connection, correct) => ({ add: (session) => correct.add({ ...session, userAgent: null }) }),
    caughtBy: 'finds a session by its id and its user',
  },
};
