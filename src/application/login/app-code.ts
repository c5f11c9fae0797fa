import { lacksSecondFactor } from '../../domain/assurance.ts';
import { AppError } from '../../domain/errors/app-error.ts';
import type { Origin } from '../../domain/event.ts';
import { invalidCode } from '../login-code.ts';
import { NEVER_CANCELLED, type Service } from '../service.ts';
import { type Caller, liveSession } from '../sessions/current-user.ts';
import { endSession } from '../sessions/end-sessions.ts';
import { type OpenedSession, prepareSession } from '../sessions/open-session.ts';
import { evidenceOf, type Presented, provenKeys } from '../sessions/prove-device.ts';
import { verifiedTokens } from '../sessions/tokens.ts';
import { useOnce } from '../storage/credentials.ts';
import { storeLogin } from './store-login.ts';

/** Milliseconds in which an app has to use its code. */
const APP_CODE_LIFETIME = 60_000;

/**
 * Makes a code with which an app gets a session of its own, while that of the browser lives (ADR 0033). It has the id of that session.
 * @param challenge RFC 7636 §4.2, by the method S256.
 * @param presented proves the key of that session, if it has one of a page: cookies that were copied are not enough.
 * @throws AppError AUTH_DEVICE_UNPROVEN, AUTH_PROOF_EXPIRED, AUTH_STEP_UP_REQUIRED when this browser did without the second factor,
 *   AUTH_TOKEN_INVALID, DB_RECORD_NOT_FOUND
 */
export const makeAppCode =
  (deps: Service) =>
  async (caller: Caller, challenge: string, presented: Presented): Promise<string> => {
    const { user, session } = await liveSession(deps, caller);
    if (lacksSecondFactor(deps, user, session))
      throw new AppError('AUTH_STEP_UP_REQUIRED', { stepUp: { acr: 'aal2' } });
    if (deps.deviceBinding === 'enforce' && session.deviceKey !== null) {
      const { evidence, refusal } = await evidenceOf(deps, presented, []);
      const key = { id: caller.sessionId, userId: user.id };
      if (evidence.proof === null || !(await deps.sessions.useProof(key, evidence.proof))) throw refusal(session);
    }
    const [value, expiresAt] = [`${deps.ids.next()}.${challenge}`, deps.clock.now() + APP_CODE_LIFETIME];
    return deps.secrets.sign({ purpose: 'app-code', ...caller, value, expiresAt });
  };

type Use = {
  readonly presented: Presented;
  readonly origin: Origin;
  readonly code: string;
  readonly verifier: string;
  /** Of the app, from a session before. */
  readonly refreshTokens: readonly string[];
};

/**
 * Opens the session of an app, with what its user has presented in the browser. Who lacks the verifier cannot use a code up; who has it, and
 * presents the code again, ends what it has opened.
 * @throws AppError AUTH_ACCOUNT_DISABLED, AUTH_CODE_INVALID, AUTH_DEVICE_UNPROVEN, AUTH_EMAIL_UNVERIFIED, AUTH_PROOF_EXPIRED
 */
export const logInWithAppCode =
  (deps: Service) =>
  async ({ verifier, refreshTokens, presented, origin, ...shown }: Use, cancellation = NEVER_CANCELLED) => {
    const now = deps.clock.now();
    const code = deps.secrets.unsign(shown.code, 'app-code', now);
    const [id = '', challenge] = code?.value.split('.') ?? [];
    if (code === null || deps.secrets.hashOf(verifier) !== challenge)
      throw invalidCode('it is no code of an app, has expired, or is for another verifier');
    const { userId, expiresAt } = code;
    const [keys, verified] = [await provenKeys(deps, presented), await verifiedTokens(deps, refreshTokens)];
    const { user, session: authentications } = await browserOf(deps, code);
    const { session, opened } = await prepareSession(deps, { id, user, now, origin, keys, authentications });
    cancellation.throwIfAborted();
    const first = await deps.transactions.run(async (stores): Promise<OpenedSession | null> => {
      await stores.users.lock(userId);
      const { user: locked } = await browserOf({ ...deps, sessions: stores.sessions }, code);
      if (await useOnce(stores.records, `app-code ${id}`, expiresAt)) {
        await storeLogin(deps, stores, { user: locked, session, verified, origin });
        return opened;
      }
      await endSession(deps, stores, { id, userId }, { reason: 'token-replayed', origin });
      return null;
    });
    if (first === null) throw invalidCode('it was used before');
    return first;
  };

/** The user and the session of the browser, as long as that lives. */
const browserOf = (deps: Pick<Service, 'sessions' | 'clock'>, caller: Caller) =>
  liveSession(deps, caller).catch((error: unknown) => {
    throw error instanceof AppError && error.status < 500 ? invalidCode(error.reason ?? error.code) : error;
  });
