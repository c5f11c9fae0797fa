import { lacksSecondFactor } from '../../domain/assurance.ts';
import { AppError } from '../../domain/errors/app-error.ts';
import { invalidCode } from '../login-code.ts';
import { NEVER_CANCELLED, type Service } from '../service.ts';
import { type Caller, liveSession } from '../sessions/current-user.ts';
import { endSession } from '../sessions/end-sessions.ts';
import { type ClientContext, evidenceOf, type Presented } from '../sessions/prove-device.ts';
import { useOnce } from '../storage/credentials.ts';
import { loginClient, openLogin } from './open-login.ts';

/** Milliseconds in which an app has to use its code. */
const APP_CODE_LIFETIME = 60_000;

/**
 * Makes a code with which an app gets a session of its own, while that of the browser lives (ADR 0033). It has the id of that session.
 * @param challenge RFC 7636 §4.2, by the method S256.
 * @param presented proves the key of that session, if it has one of a page: cookies that were copied are not enough.
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

/** The refresh tokens are the app's own, from a session before. */
type Use = ClientContext & { readonly code: string; readonly verifier: string };

/**
 * Opens the session of an app, with what its user has presented in the browser. Who lacks the verifier cannot use a code up; who has it, and
 * presents the code again, ends what it has opened.
 */
export const logInWithAppCode =
  (deps: Service) =>
  async (input: Use, cancellation = NEVER_CANCELLED) => {
    const code = deps.secrets.unsign(input.code, 'app-code', deps.clock.now());
    const [id = '', challenge] = code?.value.split('.') ?? [];
    if (code === null || deps.secrets.hashOf(input.verifier) !== challenge)
      throw invalidCode('it is no code of an app, has expired, or is for another verifier');
    const { userId, expiresAt } = code;
    const client = await loginClient(deps, input);
    const { user, session: authentications } = await browserOf(deps, code);
    const opened = await openLogin(deps, client, { id, user, authentications, cancellation }, async (stores, store) => {
      await stores.users.lock(userId);
      const { user: locked } = await browserOf({ ...deps, sessions: stores.sessions }, code);
      if (await useOnce(stores.records, `app-code ${id}`, expiresAt)) return store(locked);
      await endSession(deps, stores, { id, userId }, { reason: 'token-replayed', origin: client.origin });
      return null;
    });
    if (opened === null) throw invalidCode('it was used before');
    return opened;
  };

/** The user and the session of the browser, as long as that lives. */
const browserOf = (deps: Pick<Service, 'sessions' | 'clock'>, caller: Caller) =>
  liveSession(deps, caller).catch((error: unknown) => {
    throw error instanceof AppError && error.status < 500 ? invalidCode(error.reason ?? error.code) : error;
  });
