import type { Session } from '../../domain/session.ts';
import { type Caller, type LiveUserDeps, liveUser } from '../steps/live-user.ts';

/** A session as its user sees it, without its tokens. Times are epoch milliseconds. */
export type ListedSession = Pick<Session, 'id' | 'createdAt' | 'userAgent' | 'address'> & {
  readonly lastUsedAt: number;
  /** Whether it is the session of the request. */
  readonly current: boolean;
};

/**
 * The live sessions of a user, the most recently used first.
 * @throws AppError AUTH_TOKEN_INVALID, DB_RECORD_NOT_FOUND
 */
export const listSessions =
  (deps: LiveUserDeps) =>
  async (caller: Caller): Promise<ListedSession[]> => {
    await liveUser(deps, caller);
    const live = await deps.sessions.listByUser(caller.userId, deps.clock.now());
    return live.map(({ id, createdAt, rotatedAt, userAgent, address }) => ({
      id,
      createdAt,
      lastUsedAt: rotatedAt,
      userAgent,
      address,
      current: id === caller.sessionId,
    }));
  };
