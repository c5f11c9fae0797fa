import { AppError } from '../../domain/errors/app-error.ts';
import {
  type ReplayPolicy,
  type RotationOutcome,
  racesSince,
  type Session,
  type SessionKey,
  type TokenStanding,
  tokenStanding,
} from '../../domain/session.ts';
import type { User } from '../../domain/user.ts';
import { type Cancellation, NEVER_CANCELLED } from '../cancellation.ts';
import type { Clock } from '../ports/clock.ts';
import type { SessionRepository } from '../ports/session-repository.ts';
import type { RefreshToken } from '../ports/token-signer.ts';
import type { UserRepository } from '../ports/user-repository.ts';
import { genuineTokens } from '../steps/genuine-tokens.ts';
import { type IssueTokenPairDeps, issueTokenPair, type TokenPair } from '../steps/issue-token-pair.ts';

export type RefreshDeps = IssueTokenPairDeps & {
  readonly users: UserRepository;
  readonly sessions: SessionRepository;
  readonly clock: Clock;
  /** Milliseconds. */
  readonly refreshLifetime: number;
  readonly replayPolicy: ReplayPolicy;
  /** Told of each request with a genuine token what became of it. */
  readonly onRefresh?: ((outcome: 'rotated' | TokenStanding) => void) | undefined;
};

const failed = (reason: string) => new AppError('AUTH_FAILED', { reason });

/**
 * Rotates a refresh token (SPEC "Refresh procedure", RFC 9700 §4.14.2). Of several genuine ones the one that is current counts;
 * a replay is judged only where none is (ADR 0003).
 * @throws AppError AUTH_FAILED, DB_QUERY_FAILED
 */
export const refresh = (deps: RefreshDeps) => {
  const { tokens, clock, replayPolicy } = deps;
  const judge = judgeTokens(deps);
  const findUser = userOf(deps);
  const rotate = rotateToken(deps);
  const answerStale = handleStaleTokens(deps);
  return async (presented: readonly string[], cancellation = NEVER_CANCELLED): Promise<TokenPair> => {
    const genuine = await genuineTokens(tokens, presented, clock.now());
    const [first] = genuine;
    if (first === undefined) throw failed(presented.length === 0 ? 'no refresh token' : 'no genuine refresh token');

    let token = first;
    // Whether one token alone is current, its rotation finds out.
    if (genuine.length > 1 || isRecent(first, clock.now(), replayPolicy)) {
      const judged = await judge(genuine);
      if (best(judged).standing !== 'current') return answerStale(judged);
      token = best(judged).token;
    }
    const user = await findUser(token);
    const { outcome, pair } = await rotate(user, token, cancellation);
    if (outcome === 'stale') return answerStale(await judge(genuine));
    if (outcome === 'too-late') throw new AppError('DB_QUERY_FAILED', { reason: 'the rotation came too late' });
    deps.onRefresh?.('rotated');
    return pair;
  };
};

/** Whether a token may have been issued within the replay window; `iat` is in whole seconds. */
const isRecent = ({ claims }: RefreshToken, now: number, { replayWindow }: ReplayPolicy): boolean =>
  replayWindow > 0 && now - claims.iat * 1000 < replayWindow + 1000;

const userOf =
  ({ users }: RefreshDeps) =>
  async ({ claims }: RefreshToken): Promise<User> => {
    const user = await users.findById(claims.sub);
    if (user === null) throw failed('the user does not exist');
    return user;
  };

/**
 * One rotation. The pair is signed before the token is used up, so that a failure on the way leaves it usable; a caller who
 * was told meanwhile that it took too long keeps it too (ADR 0022).
 */
const rotateToken = (deps: RefreshDeps) => {
  const { sessions, clock, ids, refreshLifetime, replayPolicy } = deps;
  const issue = issueTokenPair(deps);
  return async (
    user: User,
    { claims, sessionId }: RefreshToken,
    cancellation: Cancellation,
  ): Promise<{ outcome: RotationOutcome; pair: TokenPair }> => {
    const now = clock.now();
    const rotation = {
      sessionId,
      userId: user.id,
      from: claims.jti,
      to: ids.next(),
      at: now,
      expiresAt: now + refreshLifetime,
      racesSince: racesSince(replayPolicy, now),
    };
    const { to, at, expiresAt } = rotation;
    const next = { id: sessionId, userId: user.id, currentTokenId: to, rotatedAt: at, expiresAt };
    const pair = await issue(user, next, now);
    cancellation.throwIfAborted();
    const outcome = await sessions.rotate(rotation);
    try {
      if (outcome === 'rotated') cancellation.throwIfAborted();
    } catch (error) {
      await sessions.revert(rotation);
      throw error;
    }
    return { outcome, pair };
  };
};

/** A genuine token, the session it names, and what it may do there. */
type Judged = { readonly token: RefreshToken; readonly session: Session | null; readonly standing: TokenStanding };

const keyOf = ({ sessionId, claims }: RefreshToken): SessionKey => ({ id: sessionId, userId: claims.sub });

const judgeTokens =
  ({ sessions, clock, replayPolicy }: RefreshDeps) =>
  (genuine: readonly RefreshToken[]): Promise<readonly Judged[]> =>
    Promise.all(
      genuine.map(async (token) => {
        const session = await sessions.find(keyOf(token));
        return { token, session, standing: tokenStanding(session, token.claims.jti, clock.now(), replayPolicy) };
      }),
    );

/** The order in which one of several tokens counts for its holder. */
const RANKS: Readonly<Record<TokenStanding, number>> = { current: 0, replayable: 1, raced: 2, reused: 3, over: 4 };

const best = (judged: readonly Judged[]): Judged => {
  const [first] = judged.toSorted((a, b) => RANKS[a.standing] - RANKS[b.standing]);
  if (first === undefined) throw new RangeError('There is no token to judge.');
  return first;
};

/** What a request gets none of whose tokens can be rotated. */
const handleStaleTokens = (deps: RefreshDeps) => {
  const { sessions, clock } = deps;
  const issue = issueTokenPair(deps);
  const findUser = userOf(deps);
  return async (judged: readonly Judged[]): Promise<TokenPair> => {
    const { token, session, standing } = best(judged);
    deps.onRefresh?.(standing);
    if (standing === 'replayable' && session !== null) return issue(await findUser(token), session, clock.now());
    if (standing !== 'reused') throw failed(`the session is not refreshed: ${standing}`);
    const reused = judged.filter((each) => each.standing === 'reused').map((each) => keyOf(each.token));
    await Promise.all(reused.map((key) => sessions.end(key)));
    const ids = reused.map(({ id }) => id).join(', ');
    throw new AppError('AUTH_FAILED', { level: 'warn', reason: `refresh token reused; session ${ids} ended` });
  };
};
