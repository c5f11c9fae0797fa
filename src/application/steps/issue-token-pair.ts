import type { Session } from '../../domain/session.ts';
import { accessClaims, refreshClaims } from '../../domain/tokens.ts';
import type { User } from '../../domain/user.ts';
import type { IdGenerator } from '../ports/id-generator.ts';
import type { TokenSigner } from '../ports/token-signer.ts';

export type TokenPair = { readonly accessToken: string; readonly refreshToken: string };

type IssueTokenPairDeps = {
  readonly tokens: TokenSigner;
  readonly ids: IdGenerator;
  /** Milliseconds. */
  readonly accessLifetime: number;
};

/** What the refresh token contains of its session. */
type CurrentToken = Pick<Session, 'id' | 'userId' | 'currentTokenId' | 'rotation' | 'rotatedAt' | 'expiresAt'>;

/** Signs a new access token, and the session's current refresh token. */
export const issueTokenPair = async (
  { tokens, ids, accessLifetime }: IssueTokenPairDeps,
  user: User,
  session: CurrentToken,
  now: number,
): Promise<TokenPair> => {
  const [accessToken, refreshToken] = await Promise.all([
    tokens.signAccess({
      claims: accessClaims({ user, tokenId: ids.next(), now, lifetime: accessLifetime }),
      sessionId: session.id,
    }),
    tokens.signRefresh({ claims: refreshClaims(session), sessionId: session.id, rotation: session.rotation }),
  ]);
  return { accessToken, refreshToken };
};
