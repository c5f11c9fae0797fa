import { AppError } from '../../domain/errors/app-error.ts';
import { NO_ORIGIN, type Origin } from '../../domain/event.ts';
import type { Rotation, SessionKey } from '../../domain/session.ts';
import { continuesRun, type ReplayPolicy } from '../../domain/token-standing.ts';
import type { User } from '../../domain/user.ts';
import { type Cancellation, NEVER_CANCELLED } from '../cancellation.ts';
import type { Clock } from '../ports/clock.ts';
import type { IdGenerator } from '../ports/id-generator.ts';
import type { SessionRepository } from '../ports/session-repository.ts';
import type { RefreshToken, TokenSigner } from '../ports/token-signer.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import type { UserRepository } from '../ports/user-repository.ts';
import type { Report } from '../reports.ts';
import {
  type AssessedToken,
  assessTokens,
  genuineTokens,
  mostFavorable,
  reusedSessions,
} from '../steps/assess-tokens.ts';
import { endSession } from '../steps/end-sessions.ts';
import { type NoticeDeps, noticeOfReplay } from '../steps/notices.ts';
import { issueTokenPair, type TokenPair } from '../steps/open-session.ts';

export type RefreshDeps = NoticeDeps & {
  readonly users: UserRepository;
  readonly sessions: SessionRepository;
  readonly unitOfWork: UnitOfWork;
  readonly tokens: TokenSigner;
  readonly clock: Clock;
  readonly ids: IdGenerator;
  /** Milliseconds. */
  readonly accessLifetime: number;
  /** Milliseconds. */
  readonly refreshLifetime: number;
  readonly replayPolicy: ReplayPolicy;
  readonly report?: Report;
};

type Asked = {
  readonly cancellation?: Cancellation;
  /** Called only when a session ends: a refresh that succeeds needs no origin. */
  readonly origin?: () => Origin;
};

const missedDeadline = () => new AppError('DB_QUERY_FAILED', { reason: 'the rotation missed its deadline' });
const failed = (reason: string) => new AppError('AUTH_FAILED', { reason });

/**
 * Rotates a refresh token (SPEC "Refresh procedure", RFC 9700 §4.14.2). Of several genuine tokens, the current one of its session
 * is rotated. A reused token ends its session unless another token of that session is favorable (ADR 0003).
 *
 * A rotation whose new tokens could not be issued, or whose caller has timed out, is reverted, so that a refresh that could not be
 * completed leaves the token current (ADR 0022).
 * @throws AppError AUTH_FAILED, DB_QUERY_FAILED
 */
export const refresh =
  (deps: RefreshDeps) =>
  async (
    presented: readonly string[],
    { cancellation = NEVER_CANCELLED, origin = () => NO_ORIGIN }: Asked = {},
  ): Promise<TokenPair> => {
    const genuine = await genuineTokens(deps, presented);
    const [first] = genuine;
    if (first === undefined) throw failed(presented.length === 0 ? 'no refresh token' : 'no genuine refresh token');

    let token = first;
    // A single token needs no look-up: the rotation itself shows whether it is current.
    if (genuine.length > 1 || mayBeReplayable(deps, first)) {
      const assessed = await assessTokens(deps, genuine);
      const best = mostFavorable(assessed);
      if (best.standing !== 'current') return handleStaleTokens(deps, assessed, origin);
      await endReused(deps, reusedSessions(assessed), origin);
      token = best.token;
    }

    const rotation = nextRotation(deps, token);
    cancellation.throwIfAborted();
    const user = await deps.sessions.rotate(rotation);
    if (user === 'too-late') throw missedDeadline();
    if (user === 'stale') return handleStaleTokens(deps, await assessTokens(deps, genuine), origin);
    if (user.disabledAt !== null) return refuseDisabled(deps, rotation, origin());
    const pair = await orRevert(deps, rotation, async () => {
      const issued = await issueTokenPair(deps, user, currentTokenAfter(rotation), rotation.at);
      cancellation.throwIfAborted();
      return issued;
    });
    deps.report?.('refresh', 'rotated');
    return pair;
  };

/** Whether a token may have been issued within the replay window. `iat` is in whole seconds. */
const mayBeReplayable = ({ clock, replayPolicy: { replayWindow } }: RefreshDeps, { claims }: RefreshToken): boolean =>
  replayWindow > 0 && clock.now() - claims.iat * 1000 < replayWindow + 1000;

const findUser = async ({ users }: RefreshDeps, id: string): Promise<User> => {
  const user = await users.findById(id);
  if (user === null) throw failed('the user does not exist');
  return user;
};

const nextRotation = (deps: RefreshDeps, token: RefreshToken): Rotation => {
  const { sessionId, claims, rotation } = token;
  const now = deps.clock.now();
  return {
    sessionId,
    userId: claims.sub,
    from: claims.jti,
    number: rotation,
    to: deps.ids.next(),
    at: now,
    expiresAt: now + deps.refreshLifetime,
    continuesRun: continuesRun(token, now, deps.replayPolicy),
  };
};

const currentTokenAfter = ({ sessionId, userId, number, to, at, expiresAt }: Rotation) => ({
  id: sessionId,
  userId,
  currentTokenId: to,
  rotation: number + 1,
  rotatedAt: at,
  expiresAt,
});

/** Reverts the rotation if the tokens cannot be issued: nobody has the new one then. */
const orRevert = async <Result>(
  { sessions }: RefreshDeps,
  rotation: Rotation,
  issue: () => Promise<Result>,
): Promise<Result> => {
  try {
    return await issue();
  } catch (error) {
    await sessions.revert(rotation);
    throw error;
  }
};

/** Handles a request none of whose tokens can be rotated: issues the current token again, or rejects it. */
const handleStaleTokens = async (
  deps: RefreshDeps,
  assessed: readonly AssessedToken[],
  origin: () => Origin,
): Promise<TokenPair> => {
  const { session, standing } = mostFavorable(assessed);
  const reused = reusedSessions(assessed);
  await endReused(deps, reused, origin);
  if (standing !== 'reused') deps.report?.('refresh', standing);
  if (standing === 'replayable' && session !== null) {
    return issueTokenPair(deps, await findUser(deps, session.userId), session, deps.clock.now());
  }
  if (reused.length === 0) throw failed(`the session is not refreshed: ${standing}`);
  const ids = reused.map(({ id }) => id).join(', ');
  throw new AppError('AUTH_FAILED', { level: 'warn', reason: `refresh token reused; session ${ids} ended` });
};

/** Of any number of replays, the first one ends the session and tells the user. */
const endReused = async (deps: RefreshDeps, reused: readonly SessionKey[], origin: () => Origin): Promise<void> => {
  if (reused.length === 0) return;
  deps.report?.('refresh', 'reused');
  const ending = { reason: 'token-replayed', origin: origin() } as const;
  // A unit for each user, who is locked first: whoever locks in another order may wait for somebody who waits for them.
  for (const [userId, keys] of Map.groupBy(reused, (key) => key.userId)) {
    await deps.unitOfWork.run(async (stores) => {
      await stores.users.lock(userId);
      let hasEnded = false;
      for (const key of keys) hasEnded = (await endSession(deps, stores, key, ending)) || hasEnded;
      if (hasEnded) await noticeOfReplay(deps, stores, userId, ending.origin);
    });
  }
};

/** The sessions of a disabled account are ended; this one was opened at the same time. */
const refuseDisabled = async (deps: RefreshDeps, rotation: Rotation, origin: Origin): Promise<never> => {
  const key = { id: rotation.sessionId, userId: rotation.userId };
  await deps.unitOfWork.run((stores) => endSession(deps, stores, key, { reason: 'operator', origin }));
  throw failed('the account is disabled');
};
