import { type Authentications, authenticatedBy, type StepUp } from '../../domain/assurance.ts';
import { AppError } from '../../domain/errors/app-error.ts';
import { NO_ORIGIN, type Origin } from '../../domain/event.ts';
import type { Session, SessionKey } from '../../domain/session.ts';
import type { User } from '../../domain/user.ts';
import { assertSamePassword, deviceCodeAttempt, userWithPassword } from '../login/compare-password.ts';
import type { AccessToken } from '../ports/token-signer.ts';
import { type Cancellation, type Core, NEVER_CANCELLED, record, type Service, type Sources } from '../service.ts';
import {
  type CallerWithToken,
  liveSession,
  liveUser,
  lockedLiveUser,
  requireStepUp,
} from '../sessions/current-user.ts';
import { type ClientContext, type PresentedDevice, provenDevice } from '../sessions/prove-device.ts';
import { renewAfterStepUp } from '../sessions/refresh.ts';
import { hookClaimsFor, type IssuedAccess, issueAccess, type TokenPair } from '../sessions/tokens.ts';
import type { Stores } from '../storage/records.ts';
import { type PresentedFactor, verifyFactor } from './verify-factor.ts';

export const assertSteppedUp =
  (deps: Core) =>
  async ({ claims, sessionId }: AccessToken, required: StepUp): Promise<void> =>
    requireStepUp(deps, required, await liveSession(deps, { userId: claims.sub, sessionId }));

type StepUpInput = CallerWithToken &
  Pick<ClientContext, 'refreshTokens' | 'origin'> & {
    readonly factor: { readonly password: string } | PresentedFactor;
    readonly presented: PresentedDevice;
    /** Aborted when the client hangs up. */
    readonly client?: Cancellation;
  };

/**
 * Raises the session of a request whose user presents the password or a factor. If the request proves a key, the session is bound to that key.
 * @returns the next tokens, with a refresh token if `renewAfterStepUp` has rotated the one of the request.
 */
export const stepUp =
  (deps: Service) =>
  async (input: StepUpInput, cancellation = NEVER_CANCELLED): Promise<IssuedAccess & Partial<TokenPair>> => {
    const { userId, sessionId, presented, refreshTokens = [], origin = NO_ORIGIN, client = NEVER_CANCELLED } = input;
    const key = { id: sessionId, userId };
    const { method, use } = await verifyAgain(deps, input);
    const proof = await provenDevice(deps, presented);
    const now = deps.clock.now();
    const authentications = [{ method, at: now }] as const;
    const hookClaims = await hookClaimsFor(deps, key, { authentications });
    const { user, session } = await deps.transactions.run(async (stores) => {
      const locked = await lockedLiveUser(deps, stores, { userId, sessionId });
      await use(stores, locked);
      if (proof !== null) {
        await stores.sessions.bindPage(key, proof.key);
        await record(deps, stores, origin, [{ userId, kind: 'device-bound', sessionId }]);
      }
      return { user: locked, session: await raiseSession(deps, stores, key, authentications, origin) };
    });
    const request = { origin, cancellation, client, hookClaims };
    const renewed = await renewAfterStepUp(deps, refreshTokens, sessionId, request);
    return renewed ?? issueAccess(deps, user, session, now, hookClaims);
  };

/** @returns the method, and `use`, which uses the factor up, or refuses if the password was changed meanwhile, in a transaction that has locked the user. */
const verifyAgain = async (deps: Service, input: StepUpInput) => {
  const { factor, origin = NO_ORIGIN } = input;
  if ('password' in factor) {
    const user = await userWithPassword(deps, { ...input, password: factor.password });
    return { method: 'password' as const, use: async (_: Stores, locked: User) => assertSamePassword(user, locked) };
  }
  const user = await liveUser(deps, input);
  return verifyFactor(deps, factor, { user, attempts: [deviceCodeAttempt(user, input)], origin });
};

/** Adds authentications to a session, in a transaction that has locked the user. @throws AppError AUTH_TOKEN_INVALID when the session has ended. */
export const raiseSession = async (
  deps: Sources,
  stores: Stores,
  key: SessionKey,
  authentications: Authentications,
  origin: Origin,
): Promise<Session> => {
  const session = await stores.sessions.find(key);
  if (session === null) throw new AppError('AUTH_TOKEN_INVALID', { reason: 'the session has ended' });
  const authenticated = authenticatedBy(authentications, session);
  await stores.sessions.update(key, authenticated);
  await record(deps, stores, origin, [{ userId: key.userId, kind: 'stepped-up', sessionId: key.id }]);
  return { ...session, ...authenticated };
};
