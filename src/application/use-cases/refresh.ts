import { AppError } from '../../domain/errors/app-error.ts';
import type { Rotation } from '../../domain/session.ts';
import { type ReplayPolicy, racesSince, type TokenStanding } from '../../domain/token-standing.ts';
import type { User } from '../../domain/user.ts';
import { type Cancellation, NEVER_CANCELLED } from '../cancellation.ts';
import type { Clock } from '../ports/clock.ts';
import type { IdGenerator } from '../ports/id-generator.ts';
import type { SessionRepository } from '../ports/session-repository.ts';
import type { RefreshToken, TokenSigner } from '../ports/token-signer.ts';
import type { UserRepository } from '../ports/user-repository.ts';
import { type AssessedToken, assessTokens, keyOf, mostFavorable } from '../steps/assess-tokens.ts';
import { genuineTokens } from '../steps/genuine-tokens.ts';
import { issueTokenPair, type TokenPair } from '../steps/issue-token-pair.ts';

export type RefreshDeps = {
  readonly users: UserRepository;
  readonly sessions: SessionRepository;
  readonly tokens: TokenSigner;
  readonly clock: Clock;
  readonly ids: IdGenerator;
  /** Milliseconds. */
  readonly accessLifetime: number;
  /** Milliseconds. */
  readonly refreshLifetime: number;
  readonly replayPolicy: ReplayPolicy;
  /** Called with the outcome of a request with a genuine token; not called when the request fails before it is known. */
  readonly onRefresh?: ((outcome: 'rotated' | TokenStanding) => void) | undefined;
};

const failed = (reason: string) => new AppError('AUTH_FAILED', { reason });

/**
 * Rotates a refresh token (SPEC "Refresh procedure", RFC 9700 §4.14.2). Of several genuine tokens, the current one of its session
 * is rotated; a rotated token is handled as a replay only when none of them is current (ADR 0003).
 *
 * The pair is signed before the rotation, and a rotation whose caller has timed out is reverted, so that a refresh that could
 * not be completed leaves the token current (ADR 0022).
 * @throws AppError AUTH_FAILED, DB_QUERY_FAILED
 */
export const refresh =
  (deps: RefreshDeps) =>
  async (presented: readonly string[], cancellation = NEVER_CANCELLED): Promise<TokenPair> => {
    const genuine = await genuineTokens(deps, presented);
    const [first] = genuine;
    if (first === undefined) throw failed(presented.length === 0 ? 'no refresh token' : 'no genuine refresh token');

    let token = first;
    // A single token needs no look-up: the rotation itself shows whether it is current.
    if (genuine.length > 1 || mayBeReplayable(deps, first)) {
      const assessed = await assessTokens(deps, genuine);
      if (mostFavorable(assessed).standing !== 'current') return handleStaleTokens(deps, assessed);
      token = mostFavorable(assessed).token;
    }

    const user = await findUser(deps, token);
    const rotation = nextRotation(deps, token);
    const pair = await issueTokenPair(deps, user, currentTokenAfter(rotation), rotation.at);
    cancellation.throwIfAborted();
    const outcome = await deps.sessions.rotate(rotation);
    if (outcome === 'stale') return handleStaleTokens(deps, await assessTokens(deps, genuine));
    if (outcome === 'too-late') throw new AppError('DB_QUERY_FAILED', { reason: 'the rotation missed its deadline' });
    await revertIfAborted(deps, rotation, cancellation);
    deps.onRefresh?.('rotated');
    return pair;
  };

/** Whether a token may have been issued within the replay window. `iat` is in whole seconds. */
const mayBeReplayable = ({ clock, replayPolicy: { replayWindow } }: RefreshDeps, { claims }: RefreshToken): boolean =>
  replayWindow > 0 && clock.now() - claims.iat * 1000 < replayWindow + 1000;

const findUser = async ({ users }: RefreshDeps, { claims }: RefreshToken): Promise<User> => {
  const user = await users.findById(claims.sub);
  if (user === null) throw failed('the user does not exist');
  return user;
};

const nextRotation = (deps: RefreshDeps, { sessionId, claims }: RefreshToken): Rotation => {
  const now = deps.clock.now();
  return {
    sessionId,
    userId: claims.sub,
    from: claims.jti,
    to: deps.ids.next(),
    at: now,
    expiresAt: now + deps.refreshLifetime,
    racesSince: racesSince(deps.replayPolicy, now),
  };
};

const currentTokenAfter = ({ sessionId, userId, to, at, expiresAt }: Rotation) => ({
  id: sessionId,
  userId,
  currentTokenId: to,
  rotatedAt: at,
  expiresAt,
});

const revertIfAborted = async (
  { sessions }: RefreshDeps,
  rotation: Rotation,
  cancellation: Cancellation,
): Promise<void> => {
  try {
    cancellation.throwIfAborted();
  } catch (error) {
    await sessions.revert(rotation);
    throw error;
  }
};

/** Handles a request none of whose tokens can be rotated: issues the current token again, or ends the sessions of reused tokens. */
const handleStaleTokens = async (deps: RefreshDeps, assessed: readonly AssessedToken[]): Promise<TokenPair> => {
  const { token, session, standing } = mostFavorable(assessed);
  deps.onRefresh?.(standing);
  if (standing === 'replayable' && session !== null) {
    return issueTokenPair(deps, await findUser(deps, token), session, deps.clock.now());
  }
  if (standing !== 'reused') throw failed(`the session is not refreshed: ${standing}`);
  const reused = assessed.filter((each) => each.standing === 'reused').map((each) => keyOf(each.token));
  await Promise.all(reused.map((key) => deps.sessions.end(key)));
  const ids = reused.map(({ id }) => id).join(', ');
  throw new AppError('AUTH_FAILED', { level: 'warn', reason: `refresh token reused; session ${ids} ended` });
};
