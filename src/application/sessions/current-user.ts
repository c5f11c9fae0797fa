import { FACTOR_CHANGE, missingStepUp, type SecondFactorPolicy, type StepUp } from '../../domain/assurance.ts';
import { PROOF_TOLERANCE } from '../../domain/device.ts';
import { AppError } from '../../domain/errors/app-error.ts';
import { isOperator } from '../../domain/operator.ts';
import { NO_PASSWORD } from '../../domain/password.ts';
import { isLive } from '../../domain/session.ts';
import { type PublicUser, publicUser, type User } from '../../domain/user.ts';
import type { UserInSession } from '../ports/session-repository.ts';
import type { AccessToken, TokenProblem, Verification } from '../ports/token-signer.ts';
import type { Core, Service } from '../service.ts';
import { passkeysOf } from '../storage/credentials.ts';
import type { Stores } from '../storage/records.ts';
import type { PresentedProof } from './prove-device.ts';

/** The user and the session of a request, for instance by its access token. */
export type Caller = { readonly userId: string; readonly sessionId: string };

export type CallerWithToken = Caller & { readonly tokenIssuedAt: number };

export type LiveSession = UserInSession & { readonly session: NonNullable<UserInSession['session']> };

/**
 * Reads a live session and its user. An access token may outlive its session, so a use case cannot rely on the token alone (ADR 0004).
 * @throws AppError AUTH_TOKEN_INVALID when the session has ended or the account is disabled, DB_RECORD_NOT_FOUND when there is no such user.
 */
export const liveSession = async (
  { sessions, clock }: Pick<Core, 'sessions' | 'clock'>,
  { userId, sessionId }: Caller,
): Promise<LiveSession> => {
  const found = await sessions.findWithUser({ id: sessionId, userId });
  if (found === null) throw new AppError('DB_RECORD_NOT_FOUND', { reason: 'the user does not exist' });
  const { user, session } = found;
  if (session === null || !isLive(session, clock.now())) throw invalidToken('the session has ended');
  if (user.disabledAt !== null) throw invalidToken('the account is disabled');
  return { ...found, session };
};

/** Serves gateways, which get the same error for a deleted user as for an ended session. @throws AppError AUTH_TOKEN_INVALID */
export const assertLive = (deps: Pick<Core, 'sessions' | 'clock'>) => async (caller: Caller) => {
  try {
    await liveSession(deps, caller);
  } catch (error) {
    if (error instanceof AppError && error.code === 'DB_RECORD_NOT_FOUND')
      throw invalidToken('the user does not exist');
    throw error;
  }
};

export const liveUser = async (deps: Pick<Core, 'sessions' | 'clock'>, caller: Caller): Promise<User> =>
  (await liveSession(deps, caller)).user;

export const lockedLiveUser = async (
  { clock }: Pick<Core, 'clock'>,
  { users, sessions }: Pick<Stores, 'users' | 'sessions'>,
  caller: Caller,
): Promise<User> => {
  await users.lock(caller.userId);
  return liveUser({ sessions, clock }, caller);
};

/** Locks the user for a change of factors, and checks the step-up of a user with a second factor: one may have been added since the route has checked it. */
export const lockedFactorOwner = async (
  { clock, secondFactor, adminUsers }: Pick<Core, 'clock'> & SecondFactorPolicy,
  { users, sessions, records }: Pick<Stores, 'users' | 'sessions' | 'records'>,
  caller: Caller,
): Promise<User> => {
  await users.lock(caller.userId);
  const found = await liveSession({ sessions, clock }, caller);
  const { user } = found;
  // For operators, and with SECOND_FACTOR=required, a passkey counts as the second factor: else somebody who reads the mail could add a factor.
  const isStrict = secondFactor === 'required' || isOperator(adminUsers, user.attributes);
  const needsPasskey = async () => isStrict && (await passkeysOf(records, user.id)).length > 0;
  if (user.secondFactorAt === null && !(await needsPasskey())) return user;
  requireStepUp({ clock }, FACTOR_CHANGE, found, true);
  return user;
};

/** The step-up that a session lacks for a request. @param isEnrolled whether the user counts as one with a second factor. */
export const missingStepUpIn = (
  { clock }: Pick<Core, 'clock'>,
  required: StepUp,
  { user, session }: LiveSession,
  isEnrolled = user.secondFactorAt !== null,
) => missingStepUp(required, session, { isEnrolled, now: clock.now() });

/** Refuses a session that lacks a step-up. @throws AppError AUTH_STEP_UP_REQUIRED with the missing step-up */
export const requireStepUp = (...parameters: Parameters<typeof missingStepUpIn>): void => {
  const missing = missingStepUpIn(...parameters);
  if (missing !== null) throw new AppError('AUTH_STEP_UP_REQUIRED', { stepUp: missing });
};

const invalidToken = (reason: string): AppError => new AppError('AUTH_TOKEN_INVALID', { reason });

/** Verifies the access token of a request, and the proof of its key. It does not throw, since some routes allow requests without a valid token. */
export const authenticateRequest = (deps: Pick<Service, 'tokens' | 'proofs' | 'clock'>) => {
  const isFirstUse = rememberProofs();
  const problemOf = async (jkt: string | undefined, presented: PresentedProof | null): Promise<TokenProblem | null> => {
    if (presented === null) return jkt === undefined ? null : 'proof_missing';
    if (jkt === undefined) return 'proof_needless';
    const now = deps.clock.now();
    const outcome = await deps.proofs.verifyDevice(presented.text, presented, now);
    if (!outcome.ok) return `proof_${outcome.reason}`;
    const { key, number } = outcome.proof;
    if (key !== jkt) return 'proof_invalid';
    return isFirstUse(`${key} ${number}`, now) ? null : 'proof_used';
  };
  return async (accessToken: string, presented: PresentedProof | null): Promise<Verification<AccessToken>> => {
    const verified = await deps.tokens.verifyAccess(accessToken, deps.clock.now());
    const problem = verified.ok ? await problemOf(verified.token.claims.cnf?.jkt, presented) : null;
    return problem === null ? verified : { ok: false, reason: problem };
  };
};

const MAX_PROOFS = 100_000;

/** Remembers the latest proofs that this process has seen (RFC 9449 §11.1). It keeps two sets, and drops the older set as a whole. */
const rememberProofs = () => {
  let [current, former, startedAt] = [new Set<string>(), new Set<string>(), 0];
  return (proof: string, now: number): boolean => {
    if (now - startedAt > 2 * PROOF_TOLERANCE || current.size >= MAX_PROOFS / 2)
      [current, former, startedAt] = [new Set(), current, now];
    if (current.has(proof) || former.has(proof)) return false;
    current.add(proof);
    return true;
  };
};

/** The user of a request, as responses show them. */
export type CurrentUser = PublicUser &
  Pick<User, 'attributes' | 'locale'> & {
    readonly emailVerified: boolean;
    readonly secondFactor: boolean;
    readonly passkeys: number;
    /** Only the pages of the service get this. */
    readonly hasPassword: boolean;
  };

/** @param count the number of the user's passkeys. Default: it is read. */
export const currentUser = async ({ records }: Stores, user: User, count?: number): Promise<CurrentUser> => ({
  ...publicUser(user),
  emailVerified: user.emailVerifiedAt !== null,
  attributes: user.attributes,
  locale: user.locale,
  secondFactor: user.secondFactorAt !== null,
  hasPassword: user.passwordHash !== NO_PASSWORD,
  passkeys: count ?? (await passkeysOf(records, user.id)).length,
});

/** The user as stored now, who may differ from the claims of the access token. */
export const getCurrentUser = (deps: Service) => async (caller: Caller) => {
  const found = await liveSession(deps, caller);
  const missing = missingStepUpIn(deps, FACTOR_CHANGE, found);
  return { ...(await currentUser(deps, found.user, found.passkeys)), missing };
};
/** The current user, and the step-up that the session lacks (`missing`), which only the pages use. */
export type UserForPages = Awaited<ReturnType<ReturnType<typeof getCurrentUser>>>;
