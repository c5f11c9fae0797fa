import { FACTOR_CHANGE, lacksSecondFactor, type MissingStepUp } from '../../domain/assurance.ts';
import { AppError } from '../../domain/errors/app-error.ts';
import { invalidCode } from '../login-code.ts';
import { NEVER_CANCELLED, type Service } from '../service.ts';
import { type Caller, type LiveSession, liveSession, missingStepUpIn } from '../sessions/current-user.ts';
import { endSession } from '../sessions/end-sessions.ts';
import { type ClientContext, evidenceOf, type PresentedDevice } from '../sessions/prove-device.ts';
import { passkeysOf, useOnce } from '../storage/credentials.ts';
import { loginClient, openLogin } from './open-login.ts';

/** Milliseconds in which a code has to be used. */
const APP_CODE_LIFETIME = 60_000;

/** The back office accepts no code that was made for an app, since the app knows its verifier. */
type CodePurpose = 'app-code' | 'office-code';

export const hasFactor = async ({ records }: Pick<Service, 'records'>, { user, passkeys }: LiveSession) =>
  user.secondFactorAt !== null || (passkeys ?? (await passkeysOf(records, user.id)).length) > 0;

/** What the user has to present before a code is made. The back office itself refuses an operator without any factor. */
const stepUpFor = async (deps: Service, found: LiveSession, purpose: CodePurpose): Promise<MissingStepUp | null> => {
  if (purpose === 'office-code' && (await hasFactor(deps, found)))
    return missingStepUpIn(deps, FACTOR_CHANGE, found, true);
  return lacksSecondFactor(deps, found.user, found.session) ? { acr: 'aal2' } : null;
};

/**
 * Makes a code by which an app gets a session of its own (ADR 0033), or an operator enters the back office (ADR 0031), while the browser's session is live.
 * @param challenge RFC 7636 §4.2, by the method S256.
 * @param presented with DEVICE_BINDING=enforce, and for a session with a device key, a proof by that key: copied cookies are not enough.
 */
export const makeAppCode =
  (deps: Service) => async (caller: Caller, challenge: string, presented: PresentedDevice, purpose: CodePurpose) => {
    const found = await liveSession(deps, caller);
    const { user, session } = found;
    const missing = await stepUpFor(deps, found, purpose);
    if (missing !== null) throw new AppError('AUTH_STEP_UP_REQUIRED', { stepUp: missing });
    if (deps.deviceBinding === 'enforce' && session.deviceKey !== null) {
      const { evidence, refusal } = await evidenceOf(deps, presented, []);
      const key = { id: caller.sessionId, userId: user.id };
      if (evidence.proof === null || !(await deps.sessions.useProof(key, evidence.proof))) throw refusal(session);
    }
    const [value, expiresAt] = [`${deps.ids.next()}.${challenge}`, deps.clock.now() + APP_CODE_LIFETIME];
    return deps.secrets.sign({ purpose, ...caller, value, expiresAt });
  };

/** A code and its verifier (RFC 7636), as a client presents them. */
export type PresentedCode = { readonly code: string; readonly verifier: string };

export const verifiedCode = ({ secrets, clock }: Service, presented: PresentedCode, purpose: CodePurpose) => {
  const code = secrets.unsign(presented.code, purpose, clock.now());
  const [id = '', challenge] = code?.value.split('.') ?? [];
  if (code === null || secrets.hashOf(presented.verifier) !== challenge)
    throw invalidCode('it is no such code, has expired, or is for another verifier');
  const { userId, sessionId, expiresAt } = code;
  return { id, caller: { userId, sessionId }, expiresAt };
};

/**
 * Opens the session of an app, with the authentication of the session in the browser. The app's session gets the id of the code, so that a second use of the
 * code with its verifier, before the code expires, ends that session.
 */
export const logInWithAppCode =
  (deps: Service) =>
  async (input: ClientContext & PresentedCode, cancellation = NEVER_CANCELLED) => {
    const { id, caller, expiresAt } = verifiedCode(deps, input, 'app-code');
    const { userId } = caller;
    const client = await loginClient(deps, input);
    const { user, session: authentications } = await browserSession(deps, caller);
    const opened = await openLogin(deps, client, { id, user, authentications, cancellation }, async (stores, store) => {
      await stores.users.lock(userId);
      const { user: locked } = await browserSession({ ...deps, sessions: stores.sessions }, caller);
      if (await useOnce(stores.records, `app-code ${id}`, expiresAt)) return store(locked);
      await endSession(deps, stores, { id, userId }, { reason: 'token-replayed', origin: client.origin });
      return null;
    });
    if (opened === null) throw invalidCode('it was used before');
    return opened;
  };

const browserSession = (deps: Pick<Service, 'sessions' | 'clock'>, caller: Caller) =>
  liveSession(deps, caller).catch((error: unknown) => {
    throw error instanceof AppError && error.status < 500 ? invalidCode(error.reason ?? error.code) : error;
  });
