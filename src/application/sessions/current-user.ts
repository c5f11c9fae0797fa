import { FACTOR_CHANGE, missingStepUp, type SecondFactorPolicy } from '../../domain/assurance.ts';
import { PROOF_TOLERANCE } from '../../domain/device-binding.ts';
import { AppError } from '../../domain/errors/app-error.ts';
import { isOperator } from '../../domain/operator.ts';
import { isLive } from '../../domain/session.ts';
import { type PublicUser, publicUser, type User } from '../../domain/user.ts';
import type { UserInSession } from '../ports/session-repository.ts';
import type { AccessToken, TokenProblem, Verified } from '../ports/token-signer.ts';
import type { Core, Service } from '../service.ts';
import { passkeysOf } from '../storage/credentials.ts';
import type { Stores } from '../storage/records.ts';
import type { PresentedProof } from './prove-device.ts';

/** The user of a request's access token, and the session in which the token was issued. */
export type Caller = { readonly userId: string; readonly sessionId: string };

export type CallerWithToken = Caller & {
  readonly tokenIssuedAt: number;
};

export type LiveSession = UserInSession & { readonly session: NonNullable<UserInSession['session']> };

/**
 * The stored user of a live session, and the session. An access token may outlive its session, so every use case of a user's own account
 * calls this (ADR 0004). One statement.
 * @throws AppError AUTH_TOKEN_INVALID when the session has ended or the account is disabled, DB_RECORD_NOT_FOUND when there is no such user.
 */
export const liveSession = async (
  { sessions, clock }: Pick<Core, 'sessions' | 'clock'>,
  { userId, sessionId }: Caller,
): Promise<LiveSession> => {
  const found = await sessions.findWithUser({ id: sessionId, userId });
  if (found === null) throw new AppError('DB_RECORD_NOT_FOUND', { reason: 'the user does not exist' });
  const { user, session } = found;
  if (session === null || !isLive(session, clock.now())) throw refused('the session has ended');
  if (user.disabledAt !== null) throw refused('the account is disabled');
  return { ...found, session };
};

/** For gateways, which let a request pass or not: a deleted user is nobody whom they may tell apart. */
export const assertLive = (deps: Pick<Core, 'sessions' | 'clock'>) => async (caller: Caller) => {
  try {
    await liveSession(deps, caller);
  } catch (error) {
    if (error instanceof AppError && error.code === 'DB_RECORD_NOT_FOUND') throw refused('the user does not exist');
    throw error;
  }
};

export const liveUser = async (deps: Pick<Core, 'sessions' | 'clock'>, caller: Caller): Promise<User> =>
  (await liveSession(deps, caller)).user;

/**
 * The same in a transaction that changes something. Locks the user first, so that the session cannot end, and the account cannot be
 * disabled, before the transaction does.
 */
export const lockedLiveUser = async (
  { clock }: Pick<Core, 'clock'>,
  { users, sessions }: Pick<Stores, 'users' | 'sessions'>,
  caller: Caller,
): Promise<User> => {
  await users.lock(caller.userId);
  return liveUser({ sessions, clock }, caller);
};

/**
 * The same in a transaction that changes factors, which asks for a step-up again: the guard has read the user before the body of the request,
 * and the user may have got a second factor, or a passkey that log-ins need, since.
 */
export const lockedFactorOwner = async (
  { clock, secondFactor, operators }: Pick<Core, 'clock'> & SecondFactorPolicy,
  { users, sessions, records }: Pick<Stores, 'users' | 'sessions' | 'records'>,
  caller: Caller,
): Promise<User> => {
  await users.lock(caller.userId);
  const { user, session } = await liveSession({ sessions, clock }, caller);
  // Whoever has the mailbox of an operator could add a passkey to theirs, and be the operator.
  const isStrict = secondFactor === 'required' || isOperator(operators, user.attributes);
  const needsPasskey = async () => isStrict && (await passkeysOf(records, user.id)).length > 0;
  if (user.secondFactorAt === null && !(await needsPasskey())) return user;
  assertPresented(FACTOR_CHANGE, session, { isEnrolled: true, now: clock.now() });
  return user;
};

/** @throws AppError AUTH_STEP_UP_REQUIRED with what is missing */
export const assertPresented = (...given: Parameters<typeof missingStepUp>): void => {
  const missing = missingStepUp(...given);
  if (missing !== null) throw new AppError('AUTH_STEP_UP_REQUIRED', { stepUp: missing });
};

const refused = (reason: string): AppError => new AppError('AUTH_TOKEN_INVALID', { reason });

/** Verifies an access token. Returns a result and does not throw, because a route may allow requests without a valid token. */
export const authenticate =
  ({ tokens, clock }: Pick<Service, 'tokens' | 'clock'>) =>
  (accessToken: string): Promise<Verified<AccessToken>> =>
    tokens.verifyAccess(accessToken, clock.now());

/** The same for a request, which needs a proof of the key to which its token is bound. @param presented `null`: there is none. */
export const authenticateRequest = (deps: Pick<Service, 'tokens' | 'proofs' | 'clock'>) => {
  const verify = authenticate(deps);
  const isFirstUse = firstUses();
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
  return async (accessToken: string, presented: PresentedProof | null): Promise<Verified<AccessToken>> => {
    const verified = await verify(accessToken);
    const problem = verified.ok ? await problemOf(verified.token.claims.cnf?.jkt, presented) : null;
    return problem === null ? verified : { ok: false, reason: problem };
  };
};

/** Proofs that are remembered: less than 20 MB. A process that gets more of them in two minutes forgets the oldest. */
const MAX_PROOFS = 100_000;

/** Whether a proof was not used before in this process (RFC 9449 §11.1), while its time is right. Each of two sets is replaced as a whole. */
const firstUses = () => {
  let [recent, before, begun] = [new Set<string>(), new Set<string>(), 0];
  return (proof: string, now: number): boolean => {
    if (now - begun > 2 * PROOF_TOLERANCE || recent.size >= MAX_PROOFS / 2)
      [recent, before, begun] = [new Set(), recent, now];
    if (recent.has(proof) || before.has(proof)) return false;
    recent.add(proof);
    return true;
  };
};

/** What users see of themselves: more than there is in their tokens. */
export type CurrentUser = PublicUser &
  Pick<User, 'attributes' | 'locale'> & {
    readonly emailVerified: boolean;
    readonly secondFactor: boolean;
    readonly passkeys: number;
  };

/** @param count of the user's passkeys, if it is known. */
export const currentUser = async (
  { records }: Pick<Stores, 'records'>,
  user: User,
  count?: number,
): Promise<CurrentUser> => ({
  ...publicUser(user),
  emailVerified: user.emailVerifiedAt !== null,
  attributes: user.attributes,
  locale: user.locale,
  secondFactor: user.secondFactorAt !== null,
  passkeys: count ?? (await passkeysOf(records, user.id)).length,
});

/** The user as stored now, which may differ from the claims of the access token. */
export const getCurrentUser =
  (deps: Service) =>
  async (caller: Caller): Promise<CurrentUser> => {
    const { user, passkeys } = await liveSession(deps, caller);
    return currentUser(deps, user, passkeys);
  };
