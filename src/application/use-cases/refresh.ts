import { AppError } from '../../domain/errors/app-error.ts';
import { type ReplayPolicy, type TokenStanding, tokenStanding } from '../../domain/session.ts';
import type { User } from '../../domain/user.ts';
import { NEVER_CANCELLED } from '../cancellation.ts';
import { firstGenuine } from '../first-genuine.ts';
import { type IssueTokenPairDeps, issueTokenPair, type TokenPair } from '../issue-token-pair.ts';
import type { Clock } from '../ports/clock.ts';
import type { SessionRepository } from '../ports/session-repository.ts';
import type { RefreshToken } from '../ports/token-signer.ts';
import type { UserRepository } from '../ports/user-repository.ts';

export type RefreshDeps = IssueTokenPairDeps & {
  readonly users: UserRepository;
  readonly sessions: SessionRepository;
  readonly clock: Clock;
  /** Milliseconds. */
  readonly refreshLifetime: number;
  readonly replayPolicy: ReplayPolicy;
  /** Told of each genuine token what became of it. */
  readonly onRefresh?: ((outcome: 'rotated' | TokenStanding) => void) | undefined;
};

const failed = (reason: string) => new AppError('AUTH_FAILED', { reason });

/**
 * Rotates a refresh token (SPEC "Refresh procedure", RFC 9700 §4.14.2). The pair is signed before the token is used up, so
 * that a failure on the way leaves it usable; a caller who was told meanwhile that it took too long keeps it too (ADR 0022).
 * @throws AppError AUTH_FAILED
 */
export const refresh = (deps: RefreshDeps) => {
  const { users, sessions, tokens, clock, ids, refreshLifetime } = deps;
  const issue = issueTokenPair(deps);
  const answerLoser = loser(deps);
  return async (presented: readonly string[], cancellation = NEVER_CANCELLED): Promise<TokenPair> => {
    const token = await firstGenuine(tokens, presented, clock.now());
    if (token === null) throw failed(presented.length === 0 ? 'no refresh token' : 'no genuine refresh token');
    const user = await users.findById(token.claims.sub);
    if (user === null) throw failed('the user does not exist');

    const now = clock.now();
    const successor = {
      id: token.sessionId,
      userId: user.id,
      currentTokenId: ids.next(),
      rotatedAt: now,
      expiresAt: now + refreshLifetime,
    };
    const pair = await issue(user, successor, now);
    cancellation.throwIfAborted();
    const rotation = {
      sessionId: token.sessionId,
      userId: user.id,
      from: token.claims.jti,
      to: successor.currentTokenId,
      at: now,
      expiresAt: successor.expiresAt,
    };
    if (!(await sessions.rotate(rotation))) return answerLoser(user, token);
    try {
      cancellation.throwIfAborted();
    } catch (error) {
      await sessions.revert(rotation);
      throw error;
    }
    deps.onRefresh?.('rotated');
    return pair;
  };
};

/** What a genuine token gets that could not be rotated: it is not current. */
const loser = (deps: RefreshDeps) => {
  const { sessions, clock, replayPolicy } = deps;
  const issue = issueTokenPair(deps);
  return async (user: User, { claims, sessionId }: RefreshToken): Promise<TokenPair> => {
    const key = { id: sessionId, userId: user.id };
    const session = await sessions.find(key);
    const now = clock.now();
    const standing = tokenStanding(session, claims.jti, now, replayPolicy);
    deps.onRefresh?.(standing);
    if (standing === 'replayable' && session !== null) return issue(user, session, now);
    if (standing !== 'reused') throw failed(`the session is not refreshed: ${standing}`);
    await sessions.end(key);
    throw new AppError('AUTH_FAILED', { level: 'warn', reason: `refresh token reused; session ${sessionId} ended` });
  };
};
