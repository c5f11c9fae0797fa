import { type Binding, bindingOf, type Evidence, NO_PROOF_REQUIRED, needsProof } from '../../domain/device.ts';
import { AppError } from '../../domain/errors/app-error.ts';
import { NO_ORIGIN, type Origin } from '../../domain/event.ts';
import { nextNumber, type Rotation, type Session, type SessionKey } from '../../domain/session.ts';
import { continuesBurst, mayHaveTokens, type TokenStatus } from '../../domain/tokens.ts';
import { recordUnprovenDevice } from '../notices.ts';
import type { RefreshToken } from '../ports/token-signer.ts';
import { type Cancellation, NEVER_CANCELLED, record, type Service } from '../service.ts';
import { endReplayed, endSession } from './end-sessions.ts';
import {
  bindByCode,
  evidenceOf,
  NOTHING_PRESENTED,
  type PresentedDevice,
  type RequestEvidence,
} from './prove-device.ts';
import {
  type AssessedToken,
  assessTokens,
  type HookClaims,
  hookClaimsFor,
  issueTokenPair,
  mostFavorable,
  refusedTokens,
  reusedSessions,
  type TokenPair,
  verifiedTokens,
} from './tokens.ts';

export type RefreshOptions = {
  readonly cancellation?: Cancellation;
  /** Aborted when the client hangs up before any of the response was sent. */
  readonly client?: Cancellation;
  readonly origin?: Origin;
  readonly presented?: PresentedDevice;
  readonly bindingCode?: string | undefined;
};

type RefreshRequest = Required<Omit<RefreshOptions, 'presented' | 'bindingCode'>> &
  RequestEvidence & {
    readonly verified: readonly RefreshToken[];
    /** Set if the hook was asked before. */
    readonly hookClaims?: HookClaims;
  };

type RenewedTokens = TokenPair & { readonly binding: Binding };

export const authFailed = (reason: string) => new AppError('AUTH_FAILED', { reason });

/** The refusal of a token in the state `raced` (`TOKEN_STATES`). Clients see AUTH_FAILED. */
export class LostRace extends AppError {
  constructor() {
    super('AUTH_FAILED', { reason: 'the session is not refreshed: raced' });
  }
}

/**
 * Renews a session (SPEC "Refresh procedure", RFC 9700 §4.14.2) by the state of the token (`TOKEN_STATES`). If issuing the new tokens fails or takes too
 * long, the rotation is reverted, and the token stays current; without a replay window, also if the client has hung up (ADR 0003).
 * @param refreshTokens of the request: a browser may send several.
 */
export const refresh =
  (deps: Service) =>
  async (
    refreshTokens: readonly string[],
    {
      cancellation = NEVER_CANCELLED,
      client = NEVER_CANCELLED,
      origin = NO_ORIGIN,
      presented = NOTHING_PRESENTED,
      bindingCode,
    }: RefreshOptions = {},
  ): Promise<RenewedTokens> => {
    const verified = await verifiedTokens(deps, refreshTokens);
    const [token, ...others] = verified;
    if (token === undefined)
      throw authFailed(refreshTokens.length === 0 ? 'no refresh token' : 'no refresh token verifies');
    const proven = await evidenceOf(deps, presented, verified);
    const request = { cancellation, client, origin, verified, ...proven };
    if (bindingCode !== undefined) await bindByCode(deps, bindingCode, request);
    // The only token is tried as current, without a look-up: the rotation shows whether it is.
    const isLookedUp = deps.claims !== undefined || others.length > 0 || mayBeReplayable(deps, token);
    const atOnce = isLookedUp ? 'stale' : await rotate(deps, request, { token, session: null, status: 'current' });
    return atOnce === 'stale' ? refreshAsStored(deps, request) : atOnce;
  };

/**
 * Rotates the refresh token of a session whose user has authenticated again.
 * @returns `null` if nothing was rotated: the request has no current token of the session, another request was first, or the session needs a proof.
 */
export const renewAfterStepUp = async (
  deps: Service,
  refreshTokens: readonly string[],
  sessionId: string,
  request: Pick<RefreshRequest, 'origin' | 'cancellation' | 'client' | 'hookClaims'>,
): Promise<RenewedTokens | null> => {
  const verified = (await verifiedTokens(deps, refreshTokens)).filter((token) => token.sessionId === sessionId);
  const evidence = { ...NO_PROOF_REQUIRED, required: deps.deviceBinding === 'enforce' };
  const current = (await assessTokens(deps, verified, evidence)).find(({ status }) => status === 'current');
  if (current === undefined) return null;
  const renewed = await rotate(deps, { ...request, verified, evidence }, current);
  return renewed === 'stale' ? null : renewed;
};

/** Whether a token may have been issued within the replay window. `iat` is in whole seconds. */
const mayBeReplayable = ({ clock, jwtRefreshReplayWindow: window }: Service, { claims }: RefreshToken): boolean =>
  window > 0 && clock.now() - claims.iat * 1000 < window + 1000;

/** How many times the sessions of a request are read if other requests change them first. */
const MAX_ATTEMPTS = 3;

const refreshAsStored = async (deps: Service, request: RefreshRequest): Promise<RenewedTokens> => {
  let { evidence } = request;
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
    const assessed = await assessTokens(deps, request.verified, evidence);
    const best = mostFavorable(assessed);
    const { session, status } = best;
    const endedIds = await endReused(deps, assessed, request.origin);
    if (status === 'current' || status === 'recoverable') {
      const pair = await rotate(deps, { ...request, evidence }, best);
      if (pair !== 'stale') return pair;
      continue;
    }
    if (session === null || (status !== 'replayable' && status !== 'unproven'))
      throw refusalFor(deps, status, endedIds);
    if (status === 'replayable' && (await useUpProof(deps, session, evidence)))
      return issueAgain(deps, session, request.origin);
    deps.report?.('refresh', 'unproven');
    if (deps.deviceBinding === 'enforce') return refuseUnproven(deps, session, request);
    // `observe` continues as if no proof were required.
    evidence = NO_PROOF_REQUIRED;
  }
  throw authFailed('the session is not refreshed: other requests were first');
};

/** Rotates a token, and issues the next pair. `stale`: the store has refused the rotation (`RotationOutcome`). */
const rotate = async (
  deps: Service,
  request: Omit<RefreshRequest, 'refusal'>,
  token: Pick<AssessedToken, 'token' | 'session' | 'status'>,
): Promise<RenewedTokens | 'stale'> => {
  const { cancellation, origin } = request;
  // The hook is asked before the rotation, so that the token stays current if the hook does not answer.
  const hookClaims = request.hookClaims ?? (deps.claims && token.session && (await hookClaimsFor(deps, token.session)));
  cancellation.throwIfAborted();
  assertConnected(deps, request);
  const rotation = nextRotation(deps, request, token);
  const { sessionId, userId, at } = rotation;
  const rotated = await deps.sessions.rotate(rotation);
  if (rotated === 'stale') return rotated;
  const { user, ...session } = rotated;
  if (!mayHaveTokens(user)) return endAndRefuse(deps, { id: sessionId, userId }, origin);
  const isRecovered = token.status === 'recoverable';
  try {
    if (isRecovered)
      await deps.transactions.run((stores) =>
        record(deps, stores, origin, [{ userId, kind: 'session-recovered', sessionId }]),
      );
    const pair = await issueTokenPair(deps, user, { ...currentTokenAfter(rotation), ...session }, at, hookClaims);
    cancellation.throwIfAborted();
    // With a replay window, another request may have got the pair, so the rotation stays.
    if (deps.jwtRefreshReplayWindow === 0) assertConnected(deps, request);
    deps.report?.('refresh', isRecovered ? 'recovered' : 'rotated');
    return { ...pair, binding: bindingOf(session) };
  } catch (error) {
    await deps.sessions.revert(rotation);
    throw error;
  }
};

const assertConnected = ({ report }: Service, { client }: Pick<RefreshRequest, 'client'>): void => {
  try {
    client.throwIfAborted();
  } catch (error) {
    report?.('refresh', 'unsent');
    throw error;
  }
};

/** @param token `session`: as stored, or `null` to expect that the token is current. */
const nextRotation = (
  deps: Service,
  { evidence, origin }: Pick<RefreshRequest, 'evidence' | 'origin'>,
  { token, session, status }: Pick<AssessedToken, 'token' | 'session' | 'status'>,
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
    expiresAt: now + deps.jwtRefreshExpiresIn,
    maxAge: deps.sessionMaxLifetime,
    // The times of lost rotations are unknown, so this rotation begins a burst.
    continuesBurst: status !== 'recoverable' && continuesBurst(token, now, deps),
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

/** Uses the proof up, if the request depends on it. @returns `false` if it does, and the store refuses the proof. */
const useUpProof = async ({ sessions }: Service, session: Session, evidence: Evidence): Promise<boolean> => {
  const { proof } = evidence;
  return proof === null || !needsProof(session, evidence) || sessions.useProof(session, proof);
};

const issueAgain = async (deps: Service, session: Session, origin: Origin): Promise<RenewedTokens> => {
  deps.report?.('refresh', 'replayable');
  const user = await deps.users.findById(session.userId);
  if (!mayHaveTokens(user)) return endAndRefuse(deps, session, origin);
  const pair = await issueTokenPair(deps, user, session, deps.clock.now(), await hookClaimsFor(deps, session));
  return { ...pair, binding: bindingOf(session) };
};

/** Refuses a refresh without a proof. The session lives on, so that its device can refresh it. */
const refuseUnproven = async (deps: Service, session: Session, request: RefreshRequest): Promise<never> => {
  const refusal = request.refusal(session);
  // AUTH_PROOF_EXPIRED is not recorded: an honest device may cause it, by a wrong clock or by a request that it sends again.
  if (refusal.code === 'AUTH_DEVICE_UNPROVEN') await recordUnprovenDevice(deps, session, request.origin);
  throw refusal;
};

/** @param endedIds the sessions that were ended because of reused tokens, which the log reports as a warning. */
const refusalFor = ({ report }: Service, status: TokenStatus, endedIds: readonly string[]): AppError => {
  if (status === 'raced' || status === 'ended') report?.('refresh', status);
  if (endedIds.length > 0)
    return new AppError('AUTH_FAILED', {
      level: 'warn',
      reason: `refresh token reused; session ${endedIds.join(', ')} ended`,
    });
  return status === 'raced' ? new LostRace() : authFailed(`the session is not refreshed: ${status}`);
};

/**
 * Ends the `reusedSessions`, whichever token decides about the request: otherwise a thief could present a stolen token together with a token
 * of their own. Two transactions that lock several users could deadlock, so each user has a transaction of their own.
 * @returns the ids of these sessions.
 */
export const endReused = async (deps: Service, assessed: readonly AssessedToken[], origin: Origin) => {
  const reused = reusedSessions(assessed);
  if (reused.length > 0) deps.report?.('refresh', 'reused');
  for (const [userId, sessions] of Map.groupBy(reused, (session) => session.userId))
    await deps.transactions.run(async (stores) => {
      await stores.users.lock(userId);
      await endReplayed(deps, stores, userId, sessions, origin);
    });
  return reused.map(({ id }) => id);
};

/** Refuses a user who was deleted or disabled, and ends the session, which may have been opened while the account was being disabled. */
const endAndRefuse = async (deps: Service, key: SessionKey, origin: Origin): Promise<never> => {
  await deps.transactions.run(async (stores) => {
    await stores.users.lock(key.userId);
    await endSession(deps, stores, key, { reason: 'operator', origin });
  });
  throw refusedTokens();
};
