import { NO_ORIGIN } from '../../domain/event.ts';
import type { TokenSigner } from '../ports/token-signer.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import { genuineTokens } from '../steps/assess-tokens.ts';
import { type EndPresentedDeps, endPresentedSessions } from '../steps/end-sessions.ts';

export type LogoutDeps = EndPresentedDeps & {
  readonly unitOfWork: UnitOfWork;
  readonly tokens: TokenSigner;
};

/** Ends the session of every genuine refresh token that is presented, and ignores the others. */
export const logout =
  (deps: LogoutDeps) =>
  async (presented: readonly string[], origin = NO_ORIGIN): Promise<void> => {
    const genuine = await genuineTokens(deps, presented);
    const userIds = new Set(genuine.map(({ claims }) => claims.sub));
    // A unit for each: whoever locks two users may wait for somebody who waits for them.
    for (const userId of userIds) {
      await deps.unitOfWork.run((stores) =>
        endPresentedSessions(deps, stores, { userId, genuine, origin, reason: 'logout' }),
      );
    }
  };
