import { isLive, type Session, type SessionKey } from '../../../../src/domain/session.ts';
import type { Access } from '../../harness/shared-rows.ts';
import type { Faults } from './fault.ts';

const keysOf = (sessions: readonly Session[]): SessionKey[] => sessions.map(({ id, userId }) => ({ id, userId }));

const purgeBy =
  (access: Access<Session>, choose: (sessions: Session[], at: number, limit: number) => Session[]) =>
  (at: number, limit: number) =>
    access((rows) => {
      const purged = choose(rows.all(), at, limit);
      for (const { id } of purged) rows.delete(id);
      return keysOf(purged);
    });

export const PURGING: Faults = {
  'purges by the clock of the caller alone': {
    wrong: ({ access }) => ({
      purge: purgeBy(access, (all, at, limit) =>
        all
          .filter((session) => !isLive(session, at))
          .sort((a, b) => a.expiresAt - b.expiresAt)
          .slice(0, limit),
      ),
    }),
    caughtBy: 'purges nothing that is live by its own clock, although the clock of the caller is ahead',
  },
  'purges in any order': {
    wrong: ({ access }) => ({
      purge: purgeBy(access, (all, at, limit) => all.filter((session) => !isLive(session, at)).slice(0, limit)),
    }),
    caughtBy: 'purges those first that expired first',
  },
  'purges rotated sessions by their first expiry': {
    wrong: ({ access }, correct) => {
      const first = new Map<string, number>();
      const firstExpiry = ({ id, expiresAt }: Session) => Math.min(first.get(id) ?? expiresAt, expiresAt);
      return {
        add: async (session) => {
          first.set(session.id, session.expiresAt);
          return correct.add(session);
        },
        purge: purgeBy(access, (all, at, limit) => all.filter((session) => firstExpiry(session) <= at).slice(0, limit)),
      };
    },
    caughtBy: 'purges a session that was rotated by its new expiry, and in that order',
  },
  'purges a session a millisecond before its expiry': {
    wrong: ({ access }) => ({
      purge: purgeBy(access, (all, at, limit) => all.filter(({ expiresAt }) => expiresAt <= at + 1).slice(0, limit)),
    }),
    caughtBy: 'purges expired sessions, and only those, and returns their keys',
  },
  'keeps a session in the millisecond of its expiry': {
    wrong: (_connection, correct) => ({ purge: (at, limit) => correct.purge(at - 1, limit) }),
    caughtBy: 'purges expired sessions, and only those, and returns their keys',
  },
  'purges more than the limit': {
    wrong: (_connection, correct) => ({ purge: (at) => correct.purge(at, Number.MAX_SAFE_INTEGER) }),
    caughtBy: 'purges expired sessions, and only those, and returns their keys',
  },
  'does not say which sessions it purged': {
    wrong: (_connection, correct) => ({
      purge: async (at, limit) => {
        await correct.purge(at, limit);
        return [];
      },
    }),
    caughtBy: 'purges expired sessions, and only those, and returns their keys',
  },
  'takes the id of a purged session for the id of its user': {
    wrong: (_connection, correct) => ({
      purge: async (at, limit) => (await correct.purge(at, limit)).map(({ id }) => ({ id, userId: id })),
    }),
    caughtBy: 'purges expired sessions, and only those, and returns their keys',
  },
  'hides purged sessions from its lists alone': {
    wrong: ({ access }, correct) => {
      const purged = new Set<string>();
      return {
        listByUser: async (userId, at) => (await correct.listByUser(userId, at)).filter(({ id }) => !purged.has(id)),
        purge: async (at, limit) => {
          const expired = await access((rows) => rows.all().filter((session) => !isLive(session, at)));
          const chosen = expired.filter(({ id }) => !purged.has(id)).slice(0, limit);
          for (const { id } of chosen) purged.add(id);
          return keysOf(chosen);
        },
      };
    },
    caughtBy: 'does not find a session that expired long ago and was purged',
  },
  'returns what it meant to purge': {
    wrong: ({ access }) => ({
      purge: async (at, limit) => {
        const expired = await access((rows) => rows.all().filter((session) => !isLive(session, at)));
        const chosen = expired.sort((a, b) => a.expiresAt - b.expiresAt).slice(0, limit);
        for (const { id } of chosen) await access((rows) => rows.delete(id));
        return keysOf(chosen);
      },
    }),
    caughtBy: 'purges each session once when two instances purge',
  },
};
