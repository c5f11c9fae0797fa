import type { Session, SessionKey } from '../../domain/session.ts';
import { type ReplayPolicy, type TokenStatus, tokenStatus } from '../../domain/tokens.ts';
import type { Clock } from '../ports/clock.ts';
import type { SessionRepository } from '../ports/session-repository.ts';
import type { RefreshToken, TokenSigner } from '../ports/token-signer.ts';

export type AssessTokensDeps = {
  readonly sessions: SessionRepository;
  readonly clock: Clock;
  readonly replayPolicy: ReplayPolicy;
};

/** A verified refresh token, its session, and its status there. */
export type AssessedToken = {
  readonly token: RefreshToken;
  readonly session: Session | null;
  readonly status: TokenStatus;
};

/** The key of the session that a token belongs to. */
const keyOf = ({ sessionId, claims }: RefreshToken): SessionKey => ({ id: sessionId, userId: claims.sub });

/** Looks up the session of each token. */
export const assessTokens = (
  { sessions, clock, replayPolicy }: AssessTokensDeps,
  verified: readonly RefreshToken[],
): Promise<readonly AssessedToken[]> =>
  Promise.all(
    verified.map(async (token) => {
      const session = await sessions.find(keyOf(token));
      return { token, session, status: tokenStatus(session, token, clock.now(), replayPolicy) };
    }),
  );

const RANKS: Readonly<Record<TokenStatus, number>> = {
  recoverable: 0,
  current: 1,
  replayable: 2,
  raced: 3,
  reused: 4,
  ended: 5,
};

/** The token that decides the response when a request has several. ADR 0003. */
export const mostFavorable = (assessed: readonly AssessedToken[]): AssessedToken => {
  const [first] = assessed.toSorted((a, b) => RANKS[a.status] - RANKS[b.status]);
  if (first === undefined) throw new RangeError('There is no token to choose from.');
  return first;
};

/** The sessions of reused tokens. A favorable token excuses the reused ones of its own session only. ADR 0003. */
export const reusedSessions = (assessed: readonly AssessedToken[]): readonly SessionKey[] => {
  const keys = new Map<string, SessionKey>();
  for (const { token, status } of assessed) if (status === 'reused') keys.set(token.sessionId, keyOf(token));
  for (const { token, status } of assessed) if (RANKS[status] < RANKS.reused) keys.delete(token.sessionId);
  return [...keys.values()];
};

type VerifiedTokensDeps = { readonly tokens: TokenSigner; readonly clock: Clock };

/** The presented refresh tokens that verify, in their order. A browser may send several cookies of the same name. */
export const verifiedTokens = async (
  { tokens, clock }: VerifiedTokensDeps,
  presented: readonly string[],
): Promise<RefreshToken[]> => {
  const now = clock.now();
  const verified = await Promise.all(presented.map((text) => tokens.verifyRefresh(text, now)));
  return verified.flatMap((outcome) => (outcome.ok ? [outcome.token] : []));
};
