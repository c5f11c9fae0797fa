import { AppError } from '../../domain/errors/app-error.ts';
import { NO_ORIGIN, type Origin } from '../../domain/event.ts';
import type { SessionKey } from '../../domain/session.ts';
import type { TokenStanding } from '../../domain/token-standing.ts';
import type { RefreshToken } from '../ports/token-signer.ts';
import type { Stores, UnitOfWork } from '../ports/unit-of-work.ts';
import { type AssessTokensDeps, assessTokens, mostFavorable } from '../steps/assess-tokens.ts';
import { endSessionsOf } from '../steps/end-sessions.ts';
import { genuineTokens } from '../steps/genuine-tokens.ts';
import type { TokenPair } from '../steps/issue-token-pair.ts';
import { type Caller, lockedLiveUser } from '../steps/live-user.ts';
import { isUsualLogin, type NoticeDeps, noticeOfLogin } from '../steps/notices.ts';
import { type PrepareSessionDeps, reopenSession } from '../steps/open-session.ts';

export type EndOtherSessionsDeps = NoticeDeps &
  PrepareSessionDeps &
  Omit<AssessTokensDeps, 'sessions'> & { readonly unitOfWork: UnitOfWork };

type EndOtherSessionsInput = Caller & {
  /** The refresh tokens of the request. */
  readonly presented: readonly string[];
  readonly origin?: Origin;
};

/** With one of these a refresh succeeds. */
const GOOD: readonly TokenStanding[] = ['current', 'replayable'];

/**
 * Ends all sessions of a user, and opens one for the caller. The access token alone does not suffice: other services have it, too, and would
 * get a session for it.
 * @throws AppError AUTH_FAILED without a refresh token of the session of the request that is good for a refresh; AUTH_TOKEN_INVALID,
 *   DB_RECORD_NOT_FOUND
 */
export const endOtherSessions =
  (deps: EndOtherSessionsDeps) =>
  async ({ userId, sessionId, presented, origin = NO_ORIGIN }: EndOtherSessionsInput): Promise<TokenPair> => {
    const key = { id: sessionId, userId };
    const genuine = await genuineTokens(deps, presented);
    return deps.unitOfWork.run(async (stores) => {
      const user = await lockedLiveUser(deps, stores, { userId, sessionId });
      await endSessionsOf(deps, stores, { userId, exceptId: sessionId }, { reason: 'all-ended', origin });
      await assertHolds(deps, stores, genuine, key);
      // Whoever has copied a cookie can do this, and the owner's own tokens show nothing afterwards: a new device is told as at a log-in.
      if (!(await isUsualLogin(deps, stores, user, origin)))
        await noticeOfLogin(deps, stores, { user, sessionId, origin });
      return reopenSession(deps, stores, { user, sessionId, origin });
    });
  };

const assertHolds = async (
  deps: Omit<AssessTokensDeps, 'sessions'>,
  { sessions }: Pick<Stores, 'sessions'>,
  genuine: readonly RefreshToken[],
  key: SessionKey,
): Promise<void> => {
  const own = genuine.filter(({ sessionId, claims }) => sessionId === key.id && claims.sub === key.userId);
  const assessed = await assessTokens({ ...deps, sessions }, own);
  const standing = assessed.length === 0 ? 'none' : mostFavorable(assessed).standing;
  if (!GOOD.some((good) => good === standing))
    throw new AppError('AUTH_FAILED', { reason: `the refresh token of the session: ${standing}` });
};
