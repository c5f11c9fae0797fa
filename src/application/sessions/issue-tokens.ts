import type { Authenticated } from '../../domain/assurance.ts';
import { AppError } from '../../domain/errors/app-error.ts';
import type { Session } from '../../domain/session.ts';
import { accessClaims, type ClaimedUser, mayHaveTokens, refreshClaims } from '../../domain/tokens.ts';
import type { IdGenerator } from '../ports/id-generator.ts';
import type { TokenSigner } from '../ports/token-signer.ts';

/** Every token of the service is issued here, to users who may have some (`mayHaveTokens`). */
export type IssueTokensDeps = {
  readonly tokens: TokenSigner;
  readonly ids: IdGenerator;
  /** Milliseconds. */
  readonly accessLifetime: number;
  /** Whether access tokens say how and when the user has authenticated. */
  readonly authenticationClaims: boolean;
};

export type TokenPair = { readonly accessToken: string; readonly refreshToken: string };

/** The parts of a session that its tokens contain. */
type CurrentToken = Pick<Session, 'id' | 'userId' | 'currentTokenId' | 'rotation' | 'rotatedAt' | 'expiresAt'> &
  Authenticated;

export const refusedTokens = (): AppError =>
  new AppError('AUTH_FAILED', { reason: 'the user does not exist, or is disabled' });

/**
 * Signs a new access token, and the session's current refresh token.
 * @param user as stored; `null` when there is none.
 * @throws AppError AUTH_FAILED when the user may not have tokens.
 */
export const issueTokenPair = async (
  deps: IssueTokensDeps,
  user: ClaimedUser | null,
  session: CurrentToken,
  now: number,
): Promise<TokenPair> => {
  const [accessToken, refreshToken] = await Promise.all([
    issueAccessToken(deps, user, session, now),
    deps.tokens.signRefresh({ claims: refreshClaims(session), sessionId: session.id, rotation: session.rotation }),
  ]);
  return { accessToken, refreshToken };
};

/** The access token alone. @throws AppError AUTH_FAILED when the user may not have tokens. */
export const issueAccessToken = async (
  { tokens, ids, accessLifetime: lifetime, authenticationClaims }: IssueTokensDeps,
  user: ClaimedUser | null,
  session: Pick<Session, 'id'> & Authenticated,
  now: number,
): Promise<string> => {
  if (!mayHaveTokens(user)) throw refusedTokens();
  const authenticated = authenticationClaims ? session : null;
  const claims = accessClaims({ user, tokenId: ids.next(), now, lifetime, authenticated });
  return tokens.signAccess({ claims, sessionId: session.id });
};
