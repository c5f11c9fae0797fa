import {
  type Authenticated,
  type Authentications,
  authenticatedBy,
  missingStepUp,
  type StepUp,
} from '../../domain/assurance.ts';
import type { DeviceProof } from '../../domain/device-binding.ts';
import { AppError } from '../../domain/errors/app-error.ts';
import { NO_ORIGIN, type Origin } from '../../domain/event.ts';
import type { SessionKey } from '../../domain/session.ts';
import type { AccessToken } from '../ports/token-signer.ts';
import type { Stores } from '../ports/unit-of-work.ts';
import { type LiveUserDeps, liveSession } from '../steps/live-user.ts';
import { type IssueTokenPairDeps, issueAccessToken } from '../steps/open-session.ts';
import { type Presented, type ProveDeviceDeps, provenDevice } from '../steps/prove-device.ts';
import { type ChangeDeps, type RecordDeps, record } from '../steps/record.ts';
import {
  isStillUserWithPassword,
  type RequestWithPassword,
  type UserWithPasswordDeps,
  userWithPassword,
} from '../steps/user-with-password.ts';

/**
 * Whether the session of an access token has what a route requires.
 * @throws AppError AUTH_STEP_UP_REQUIRED, AUTH_TOKEN_INVALID, DB_RECORD_NOT_FOUND
 */
export const assertSteppedUp =
  (deps: LiveUserDeps) =>
  async ({ claims, sessionId }: AccessToken, required: StepUp): Promise<void> => {
    const { user, session } = await liveSession(deps, { userId: claims.sub, sessionId });
    const state = { isEnrolled: user.secondFactorAt !== null, now: deps.clock.now() };
    const missing = missingStepUp(required, session, state);
    if (missing !== null) throw new AppError('AUTH_STEP_UP_REQUIRED', { stepUp: missing });
  };

export type StepUpDeps = UserWithPasswordDeps & ProveDeviceDeps & ChangeDeps & IssueTokenPairDeps;

type StepUpInput = RequestWithPassword & { readonly presented: Presented; readonly origin?: Origin };

/**
 * Raises the session of a request, whose user shows the password again. A proof gives the session another key of its device.
 * @returns an access token of the raised session.
 * @throws AppError AUTH_CREDENTIALS_INVALID, AUTH_DEVICE_UNPROVEN, AUTH_PROOF_EXPIRED, AUTH_TOKEN_INVALID,
 *   CLIENT_REQUEST_RATE_LIMIT_EXCEEDED, DB_RECORD_NOT_FOUND
 */
export const stepUp =
  (deps: StepUpDeps) =>
  async (input: StepUpInput): Promise<string> => {
    const { userId, sessionId, presented, origin = NO_ORIGIN } = input;
    const key = { id: sessionId, userId };
    const user = await userWithPassword(deps, input);
    const proof = await provenDevice(deps, presented);
    const now = deps.clock.now();
    const authenticated = await deps.unitOfWork.run(async (stores) => {
      if (!(await isStillUserWithPassword(deps, stores, input, user))) throw new AppError('AUTH_CREDENTIALS_INVALID');
      if (proof !== null) await bindPage(deps, stores, key, proof, origin);
      return raiseSession(deps, stores, key, [{ method: 'password', at: now }], origin);
    });
    return issueAccessToken(deps, user, { id: sessionId, ...authenticated }, now);
  };

const bindPage = async (
  deps: RecordDeps,
  stores: Pick<Stores, 'sessions' | 'events'>,
  key: SessionKey,
  proof: DeviceProof,
  origin: Origin,
): Promise<void> => {
  await stores.sessions.bindPage(key, proof.key);
  await record(deps, stores, origin, [{ userId: key.userId, kind: 'device-bound', sessionId: key.id }]);
};

/**
 * Adds what a user has shown to their session, in a unit of work that has locked the user.
 * @throws AppError AUTH_TOKEN_INVALID when the session has ended.
 */
const raiseSession = async (
  deps: RecordDeps,
  stores: Pick<Stores, 'sessions' | 'events'>,
  key: SessionKey,
  authentications: Authentications,
  origin: Origin,
): Promise<Authenticated> => {
  const session = await stores.sessions.find(key);
  if (session === null) throw new AppError('AUTH_TOKEN_INVALID', { reason: 'the session has ended' });
  const authenticated = authenticatedBy(authentications, session.amr);
  await stores.sessions.authenticate(key, authenticated);
  await record(deps, stores, origin, [{ userId: key.userId, kind: 'stepped-up', sessionId: key.id }]);
  return authenticated;
};
