import { NO_ORIGIN } from '../../domain/event.ts';
import type { TokenSigner } from '../ports/token-signer.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import { verifiedTokens } from './assess-tokens.ts';
import { type EndPresentedDeps, endPresentedSessions } from './end-sessions.ts';

export type LogoutDeps = EndPresentedDeps & {
  readonly unitOfWork: UnitOfWork;
  readonly tokens: TokenSigner;
};

/** Ends the session of every presented refresh token that verifies, and ignores the others. */
export const logout =
  (deps: LogoutDeps) =>
  async (presented: readonly string[], origin = NO_ORIGIN): Promise<void> => {
    const verified = await verifiedTokens(deps, presented);
    const userIds = new Set(verified.map(({ claims }) => claims.sub));
    // A unit of work for each user: two units that lock two users could deadlock.
    for (const userId of userIds) {
      await deps.unitOfWork.run(async (stores) => {
        await stores.users.lock(userId);
        await endPresentedSessions(deps, stores, { userId, verified, origin, reason: 'logout' });
      });
    }
  };
