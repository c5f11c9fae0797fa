import type { SessionRepository } from '../../application/ports/session-repository.ts';
import { AppError } from '../../domain/errors/app-error.ts';
import type { Session, SessionKey } from '../../domain/session.ts';

/**
 * Sessions that change at once, in a unit of work whose other changes are kept or not. A unit that is run again finds them changed by
 * the run before: it adds no session a second time, and is told of those again that ended.
 */
export const sessionsOfUnit = (sessions: SessionRepository) => {
  /** The sessions that were added or may have been, and those that gave way to each. */
  const added = new Map<string, { readonly key: SessionKey; surplus?: readonly string[] }>();
  const ended = new Map<string, SessionKey>();

  const add = async (session: Session): Promise<readonly string[]> => {
    const adding: { readonly key: SessionKey; surplus?: readonly string[] } = { key: session };
    added.set(session.id, adding);
    try {
      adding.surplus = await sessions.add(session);
      return adding.surplus;
    } catch (error) {
      if (error instanceof AppError && error.code === 'DB_UNIQUE_VIOLATION') added.delete(session.id);
      throw error;
    }
  };

  /** The sessions as one run of the unit sees them. */
  const begin = (): SessionRepository => {
    const untold = new Map(ended);
    /** Those that have ended now, and those that an earlier run has ended. */
    const told = (now: readonly SessionKey[], isMeant: (key: SessionKey) => boolean): SessionKey[] => {
      const earlier = [...untold.values()].filter(isMeant);
      for (const key of now) ended.set(key.id, key);
      for (const { id } of earlier) untold.delete(id);
      return [...now, ...earlier];
    };
    return {
      ...sessions,
      add: async (session) => added.get(session.id)?.surplus ?? add(session),
      async end({ id, userId }) {
        const now = (await sessions.end({ id, userId })) ? [{ id, userId }] : [];
        return told(now, (key) => key.id === id && key.userId === userId).length > 0;
      },
      async endByUser(userId, exceptId) {
        const now = (await sessions.endByUser(userId, exceptId)).map((id) => ({ id, userId }));
        return told(now, (key) => key.userId === userId && key.id !== exceptId).map(({ id }) => id);
      },
      purge: async (now, limit) => told(await sessions.purge(now, limit), () => true),
    };
  };

  return {
    begin,
    /** Ends the sessions that were added, as far as possible: nobody has their tokens. */
    endAdded: () => Promise.allSettled([...added.values()].map(({ key }) => sessions.end(key))),
  };
};
