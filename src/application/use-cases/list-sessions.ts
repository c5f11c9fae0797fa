import type { Session } from '../../domain/session.ts';
import type { Clock } from '../ports/clock.ts';
import type { SessionRepository } from '../ports/session-repository.ts';

export type ListSessionsDeps = { readonly sessions: SessionRepository; readonly clock: Clock };

/** A session as its user sees it, without its tokens. Times are epoch milliseconds. */
export type ListedSession = Pick<Session, 'id' | 'createdAt' | 'userAgent' | 'address'> & {
  readonly lastUsedAt: number;
  /** Whether it is the session of the request. */
  readonly current: boolean;
};

/** The live sessions of a user, the most recently used first. */
export const listSessions =
  ({ sessions, clock }: ListSessionsDeps) =>
  async (userId: string, currentId: string): Promise<ListedSession[]> => {
    const live = await sessions.listByUser(userId, clock.now());
    return live.map(({ id, createdAt, rotatedAt, userAgent, address }) => ({
      id,
      createdAt,
      lastUsedAt: rotatedAt,
      userAgent,
      address,
      current: id === currentId,
    }));
  };
