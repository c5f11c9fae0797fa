import { NOT_REQUIRED, needsProof } from '../../domain/device-binding.ts';
import { AppError } from '../../domain/errors/app-error.ts';
import { NO_ORIGIN, type Origin } from '../../domain/event.ts';
import { nextNumber, type Rotation, type Session, type SessionKey } from '../../domain/session.ts';
import { continuesRun, mayHaveTokens, type ReplayPolicy, type TokenStatus } from '../../domain/tokens.ts';
import { type Cancellation, NEVER_CANCELLED } from '../cancellation.ts';
import type { NoticeDeps } from '../notices.ts';
import type { SessionRepository } from '../ports/session-repository.ts';
import type { RefreshToken } from '../ports/token-signer.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import type { UserRepository } from '../ports/user-repository.ts';
import { record } from '../record.ts';
import type { Report } from '../reports.ts';
import { type AssessedToken, assessTokens, mostFavorable, reusedSessions, verifiedTokens } from './assess-tokens.ts';
import { endSession } from './end-sessions.ts';
import { issueTokenPair, refusedTokens, type TokenPair } from './issue-tokens.ts';
import type { PrepareSessionDeps } from './open-session.ts';
import { NOTHING_PRESENTED, type Presented, type ProveDeviceDeps, type Shown, shownBy } from './prove-device.ts';
import { notifyOfReplay, recordUnprovenDevice } from './theft-notice.ts';

export type RefreshDeps = NoticeDeps &
  ProveDeviceDeps &
  PrepareSessionDeps & {
    readonly users: UserRepository;
    readonly sessions: SessionRepository;
    readonly unitOfWork: UnitOfWork;
    readonly replayPolicy: ReplayPolicy;
    readonly report?: Report;
  };

export type RefreshOptions = {
  readonly cancellation?: Cancellation;
  /** Aborted when the client has hung up before any of the response was sent. */
  readonly client?: Cancellation;
  readonly origin?: Origin;
  readonly presented?: Presented;
};

/** A request to refresh, and what it shows of its device. */
type Request = Shown & {
  readonly cancellation: Cancellation;
  readonly client: Cancellation;
  readonly origin: Origin;
  /** The presented refresh tokens that verify. */
  readonly verified: readonly RefreshToken[];
};

const authFailed = (reason: string) => new AppError('AUTH_FAILED', { reason });

/** Another request has just rotated the token, and its response has the next one. To a client it is any AUTH_FAILED. */
export class LostRace extends AppError {
  constructor() {
    super('AUTH_FAILED', { reason: 'the session is not refreshed: raced' });
  }
}

/**
 * Rotates a refresh token (SPEC "Refresh procedure", RFC 9700 §4.14.2). A request may have several: the one that is current in its
 * session is rotated. A reused token ends its session, unless the request has a favorable token of the same session (ADR 0002). A session
 * with a key of its device is refreshed with a proof of it alone, and then by any of its tokens (ADR 0006).
 *
 * If the new tokens cannot be issued, the caller has timed out or the client has hung up, the rotation is reverted, and the token stays current
 * (ADR 0003).
 * @returns the tokens, and whether the browser itself has proven its key.
 * @throws AppError AUTH_DEVICE_UNPROVEN, AUTH_FAILED, AUTH_PROOF_EXPIRED, DB_QUERY_FAILED
 */
export const refresh =
  (deps: RefreshDeps) =>
  async (
    presented: readonly string[],
    {
      cancellation = NEVER_CANCELLED,
      client = NEVER_CANCELLED,
      origin = NO_ORIGIN,
      presented: device = NOTHING_PRESENTED,
    }: RefreshOptions = {},
  ): Promise<TokenPair & { readonly provenByBrowser: boolean }> => {
    const verified = await verifiedTokens(deps, presented);
    const [first] = verified;
    if (first === undefined)
      throw authFailed(presented.length === 0 ? 'no refresh token' : 'no refresh token verifies');
    const shown = await shownBy(deps, device, verified);
    const pair = await refreshTokens(deps, first, { cancellation, client, origin, verified, ...shown });
    return { ...pair, provenByBrowser: shown.evidence.browserKey !== null };
  };

const refreshTokens = async (deps: RefreshDeps, first: RefreshToken, request: Request): Promise<TokenPair> => {
  const { verified, evidence } = request;
  let [token, session]: [RefreshToken, Session | null] = [first, null];
  // A single token is rotated without a look-up: the rotation shows whether it was current.
  if (verified.length > 1 || mayBeReplayable(deps, first)) {
    const assessed = await assessTokens(deps, verified, evidence);
    const best = mostFavorable(assessed);
    if (best.status !== 'current') return handleStaleTokens(deps, assessed, request);
    await endReused(deps, assessed, request.origin);
    ({ token, session } = best);
  }

  const pair = await rotate(deps, nextRotation(deps, token, session, request), request);
  if (pair === 'stale') return handleStaleTokens(deps, await assessTokens(deps, verified, evidence), request);
  deps.report?.('refresh', 'rotated');
  return pair;
};

/**
 * Rotates a token and issues the next pair. If that or `afterRotation` fails, the caller has timed out or the client has hung up, the rotation
 * is reverted. Not for a client that has hung up where another request may have been given the pair, within the replay window.
 * @param afterRotation is called once the token is rotated
 */
const rotate = async (
  deps: RefreshDeps,
  rotation: Rotation,
  request: Request,
  afterRotation: () => Promise<void> = async () => undefined,
): Promise<TokenPair | 'stale'> => {
  const { cancellation, origin } = request;
  cancellation.throwIfAborted();
  assertConnected(deps, request);
  const rotated = await deps.sessions.rotate(rotation);
  if (rotated === 'stale') return rotated;
  const { user, ...session } = rotated;
  if (!mayHaveTokens(user)) return refuseUser(deps, { id: rotation.sessionId, userId: rotation.userId }, origin);
  try {
    await afterRotation();
    const issued = await issueTokenPair(deps, user, { ...currentTokenAfter(rotation), ...session }, rotation.at);
    cancellation.throwIfAborted();
    if (deps.replayPolicy.replayWindow === 0) assertConnected(deps, request);
    return issued;
  } catch (error) {
    await deps.sessions.revert(rotation);
    throw error;
  }
};

const assertConnected = ({ report }: RefreshDeps, { client }: Request): void => {
  try {
    client.throwIfAborted();
  } catch (error) {
    report?.('refresh', 'unsent');
    throw error;
  }
};

/** Whether a token may have been issued within the replay window. `iat` is in whole seconds. */
const mayBeReplayable = ({ clock, replayPolicy: { replayWindow } }: RefreshDeps, { claims }: RefreshToken): boolean =>
  replayWindow > 0 && clock.now() - claims.iat * 1000 < replayWindow + 1000;

/** @param session as it is stored; `null` to expect that `token` is its current one, and was not rotated before. */
const nextRotation = (
  deps: RefreshDeps,
  token: RefreshToken,
  session: Session | null,
  { evidence, origin }: Request,
): Rotation => {
  const { sessionId, claims, rotation } = token;
  const now = deps.clock.now();
  return {
    sessionId,
    userId: claims.sub,
    from: claims.jti,
    expected: session?.currentTokenId ?? claims.jti,
    expectedNumber: session?.rotation ?? rotation,
    number: rotation,
    to: deps.ids.next(),
    at: now,
    expiresAt: now + deps.refreshLifetime,
    maxAge: deps.sessionMaxLifetime,
    continuesRun: continuesRun(token, now, deps.replayPolicy),
    device: { userAgent: origin.userAgent, address: origin.address },
    evidence,
  };
};

const currentTokenAfter = (rotation: Rotation) => ({
  id: rotation.sessionId,
  userId: rotation.userId,
  currentTokenId: rotation.to,
  rotation: nextNumber(rotation),
  rotatedAt: rotation.at,
});

/** Handles a request whose token was not rotated: rotates it as stored, issues the current token again, or rejects the request. */
const handleStaleTokens = async (
  deps: RefreshDeps,
  assessed: readonly AssessedToken[],
  request: Request,
): Promise<TokenPair> => {
  const best = mostFavorable(assessed);
  const { token, session, status } = best;
  const ended = await endReused(deps, assessed, request.origin);
  if (mayRotate(status)) return rotateAsStored(deps, best, request);
  if (session !== null) {
    if (status === 'replayable') return issueAgain(deps, token, session, request);
    if (status === 'unproven') return handleUnproven(deps, token, session, request);
  }
  if (status !== 'reused') deps.report?.('refresh', status);
  if (ended.length === 0)
    throw status === 'raced' ? new LostRace() : authFailed(`the session is not refreshed: ${status}`);
  throw new AppError('AUTH_FAILED', {
    level: 'warn',
    reason: `refresh token reused; session ${ended.join(', ')} ended`,
  });
};

/** Issues the current token of a session again. The proof of its device is used up. */
const issueAgain = async (
  deps: RefreshDeps,
  token: RefreshToken,
  session: Session,
  request: Request,
): Promise<TokenPair> => {
  const { proof } = request.evidence;
  if (proof !== null && needsProof(session, request.evidence) && !(await deps.sessions.useProof(session, proof)))
    return handleUnproven(deps, token, session, request);
  deps.report?.('refresh', 'replayable');
  const user = await deps.users.findById(session.userId);
  if (!mayHaveTokens(user)) return refuseUser(deps, session, request.origin);
  return issueTokenPair(deps, user, session, deps.clock.now());
};

/** Refuses a request that does not show the device of its session; `observe` reports it alone. The session lives. */
const handleUnproven = async (
  deps: RefreshDeps,
  token: RefreshToken,
  session: Session,
  request: Request,
): Promise<TokenPair> => {
  deps.report?.('refresh', 'unproven');
  if (deps.deviceBinding === 'observe') return refreshTokens(deps, token, { ...request, evidence: NOT_REQUIRED });
  const refusal = request.refusal(session);
  // The clock of an honest device may be wrong, and a browser may send a request again whose response was lost.
  if (refusal.code === 'AUTH_DEVICE_UNPROVEN') await recordUnprovenDevice(deps, session, request.origin);
  throw refusal;
};

const mayRotate = (status: TokenStatus): status is 'current' | 'recoverable' =>
  status === 'current' || status === 'recoverable';

/** Rotates a token whose number is not that of the session: an earlier rotation of it was reverted, or the store has forgotten rotations. */
const rotateAsStored = async (
  deps: RefreshDeps,
  { token, session, status }: AssessedToken,
  request: Request,
): Promise<TokenPair> => {
  const isForgotten = status === 'recoverable';
  const event = { userId: token.claims.sub, kind: 'session-recovered', sessionId: token.sessionId } as const;
  const storeEvent = () => deps.unitOfWork.run((stores) => record(deps, stores, request.origin, [event]));
  const next = nextRotation(deps, token, session, request);
  // The times of rotations that the store has forgotten are unknown, so this one begins a run.
  const rotation = isForgotten ? { ...next, continuesRun: false } : next;
  const pair = await rotate(deps, rotation, request, isForgotten ? storeEvent : undefined);
  if (pair === 'stale') {
    // Another request was first, so the token may no longer be rotated. If it may, the store cannot do so.
    const assessed = await assessTokens(deps, [token], request.evidence);
    const now = mostFavorable(assessed).status;
    if (mayRotate(now)) throw authFailed(`the session is not refreshed: ${now}`);
    return handleStaleTokens(deps, assessed, request);
  }
  deps.report?.('refresh', isForgotten ? 'recovered' : 'rotated');
  return pair;
};

/**
 * Ends the sessions of reused tokens, and notifies their users once for each.
 * @returns the ids of the sessions of reused tokens.
 */
const endReused = async (
  deps: RefreshDeps,
  assessed: readonly AssessedToken[],
  origin: Origin,
): Promise<readonly string[]> => {
  const reused = reusedSessions(assessed);
  if (reused.length === 0) return [];
  deps.report?.('refresh', 'reused');
  const ending = { reason: 'token-replayed', origin } as const;
  // A unit of work for each user, who is locked first: units that lock in different orders could deadlock.
  for (const [userId, sessions] of Map.groupBy(reused, (session) => session.userId)) {
    await deps.unitOfWork.run(async (stores) => {
      await stores.users.lock(userId);
      const ended: Session[] = [];
      for (const session of sessions) if (await endSession(deps, stores, session, ending)) ended.push(session);
      await notifyOfReplay(deps, stores, { userId, ended, origin });
    });
  }
  return reused.map(({ id }) => id);
};

/** Ends a session that was opened while its account was being disabled. */
const refuseUser = async (deps: RefreshDeps, key: SessionKey, origin: Origin): Promise<never> => {
  await deps.unitOfWork.run((stores) => endSession(deps, stores, key, { reason: 'operator', origin }));
  throw refusedTokens();
};
