import type { Origin } from '../../domain/event.ts';
import type { RefreshToken } from '../ports/token-signer.ts';
import type { Stores } from '../ports/unit-of-work.ts';
import { type AssessTokensDeps, assessTokens, reusedSessions } from './assess-tokens.ts';
import { endSession } from './end-sessions.ts';
import { type NoticeDeps, noticeOfReplay } from './notices.ts';

type Presented = {
  /** Sessions of other users stay open. */
  readonly userId: string;
  /** The genuine refresh tokens of the request. */
  readonly genuine: readonly RefreshToken[];
  readonly origin: Origin;
};

/**
 * Ends the sessions of a user whose tokens a device presents while it gets those of another session. Its browser forgets them, and with
 * them a reused token, the only sign that somebody has a copy: such a session ends as a replay, and its user is told.
 */
export const endPresentedSessions = async (
  deps: NoticeDeps & Omit<AssessTokensDeps, 'sessions'>,
  stores: Pick<Stores, 'users' | 'sessions' | 'events' | 'outbox'>,
  { userId, genuine, origin }: Presented,
): Promise<void> => {
  const own = genuine.filter(({ claims }) => claims.sub === userId);
  const assessed = await assessTokens({ ...deps, sessions: stores.sessions }, own);
  const reused = reusedSessions(assessed).map(({ id }) => id);
  const ids = new Set(assessed.filter(({ standing }) => standing !== 'ended').map(({ token }) => token.sessionId));
  let isReplayed = false;
  for (const id of ids) {
    const reason = reused.includes(id) ? 'token-replayed' : 'replaced';
    const ended = await endSession(deps, stores, { id, userId }, { reason, origin });
    isReplayed ||= ended && reason === 'token-replayed';
  }
  if (isReplayed) await noticeOfReplay(deps, stores, userId, origin);
};
