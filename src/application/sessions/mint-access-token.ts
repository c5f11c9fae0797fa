import { AppError } from '../../domain/errors/app-error.ts';
import { isGood } from '../../domain/token-status.ts';
import type { UserRepository } from '../ports/user-repository.ts';
import { type AssessTokensDeps, assessTokens, hasUnproven, mostFavorable, verifiedTokens } from './assess-tokens.ts';
import { type IssueTokensDeps, issueAccessToken } from './issue-tokens.ts';
import { unproven } from './prove-device.ts';

export type MintAccessTokenDeps = AssessTokensDeps & IssueTokensDeps & { readonly users: UserRepository };

const refused = (reason: string) => new AppError('AUTH_FAILED', { reason });

/**
 * An access token for a server that renders a page, and was handed the refresh tokens of its visitor (ADR 0023). Changes nothing: only the
 * browser rotates. So it ends no session of a reused token either.
 * @throws AppError AUTH_DEVICE_UNPROVEN when the session has a key of its device, which a server cannot prove; AUTH_FAILED, DB_QUERY_FAILED
 */
export const mintAccessToken =
  (deps: MintAccessTokenDeps) =>
  async (presented: readonly string[]): Promise<string> => {
    const assessed = await assessTokens(deps, await verifiedTokens(deps, presented));
    if (assessed.length === 0) throw refused('no refresh token verifies');
    const { session, status } = mostFavorable(assessed);
    if (hasUnproven(assessed)) throw unproven('the session has a key of its device');
    // The token of a page that is loading may have been rotated since by the browser itself.
    if (session === null || !(isGood(status) || status === 'raced'))
      throw refused(`the token is not current: ${status}`);
    return issueAccessToken(deps, await deps.users.findById(session.userId), session, deps.clock.now());
  };
