import { NO_ORIGIN } from '../../domain/event.ts';
import type { TokenSigner } from '../ports/token-signer.ts';
import type { Transactions } from '../ports/transactions.ts';
import { verifiedTokens } from './assess-tokens.ts';
import { type EndPresentedDeps, endPresentedSessions } from './end-sessions.ts';

export type LogoutDeps = EndPresentedDeps & {
  readonly transactions: Transactions;
  readonly tokens: TokenSigner;
};

/** Ends the session of every presented refresh token that verifies, and ignores the others. */
export const logout =
  (deps: LogoutDeps) =>
  async (presented: readonly string[], origin = NO_ORIGIN): Promise<void> => {
    const verified = await verifiedTokens(deps, presented);
    const userIds = new Set(verified.map(({ claims }) => claims.sub));
    // A transaction for each user: two transactions that lock two users could deadlock.
    for (const userId of userIds) {
      await deps.transactions.run(async (stores) => {
        await stores.users.lock(userId);
        await endPresentedSessions(deps, stores, { userId, verified, origin, reason: 'logout' });
      });
    }
  };
