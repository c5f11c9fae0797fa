import type { SecondFactorPolicy } from '../../domain/assurance.ts';
import { isConfirmed } from '../../domain/second-factor.ts';
import type { User } from '../../domain/user.ts';
import { unsealCodes } from '../login/asked-code.ts';
import { codeAttempts } from '../login/compare-password.ts';
import { finishWithCode } from '../login/new-device-code.ts';
import { assertMayLogIn, loginClient, openLogin, reportRefusal } from '../login/open-login.ts';
import {
  assertSameAccount,
  hasLaterLogin,
  invalidSecondFactor,
  openPendingLogin,
  usePendingLogin,
} from '../login/pending-login.ts';
import { expiryOf } from '../login-code.ts';
import type { FactorSecrets } from '../ports/secrets.ts';
import { NEVER_CANCELLED, type Service } from '../service.ts';
import { rememberDevice } from '../sessions/end-sessions.ts';
import type { ClientContext } from '../sessions/prove-device.ts';
import { factorsOf, passkeysOf, recoveryCodesOf } from '../storage/credentials.ts';
import type { Records } from '../storage/records.ts';
import { addApp, enrol } from './enrol-app.ts';
import { passkeyChallenge } from './passkeys.ts';
import { type PresentedFactor, verifyFactor, verifyFirstCode } from './verify-factor.ts';

type SecondFactorMethod = 'totp' | 'recovery-code' | 'passkey' | 'mail-code';

/** The methods that can finish a pending log-in. `enrol`: the user has no factor, and has to add an authenticator app. */
export const showPendingLogin = (deps: Service) => async (pendingLogins: readonly string[]) => {
  const asked = unsealCodes(deps, pendingLogins, 'new-device-code');
  const methods: SecondFactorMethod[] = [];
  if (asked !== null && !hasLaterLogin(deps, pendingLogins, asked[0].askedAt)) {
    methods.push('mail-code');
    return { methods, enrol: false, expiresAt: expiryOf(asked[0]), challenge: null };
  }
  const { pending, user } = await openPendingLogin(deps, pendingLogins);
  const [factors, codes, passkeys] = await Promise.all([
    factorsOf(deps.records, user.id),
    recoveryCodesOf(deps.records, user.id),
    passkeysOf(deps.records, user.id),
  ]);
  if (deps.secrets.factors !== null && factors.some(isConfirmed)) methods.push('totp');
  if (codes.length > 0) methods.push('recovery-code');
  if (passkeys.length > 0) methods.push('passkey');
  const enrol = await mayEnrol(deps, deps.records, user);
  const challenge = passkeys.length > 0 ? passkeyChallenge(deps)() : null;
  return { methods, enrol, expiresAt: pending.expiresAt, challenge };
};

/** Whether the user of a pending log-in adds a factor instead of presenting one: the user needs a factor, and has none. */
const mayEnrol = async ({ secondFactor }: SecondFactorPolicy, records: Records, { id, secondFactorAt }: User) =>
  secondFactor === 'required' && secondFactorAt === null && (await passkeysOf(records, id)).length === 0;

/** Adds an authenticator app for the user of a pending log-in who has no factor. Its first code finishes the log-in. */
export const startPendingApp =
  (deps: Service, factorSecrets: FactorSecrets) => async (pendingLogins: readonly string[]) => {
    const { pending } = await openPendingLogin(deps, pendingLogins);
    return deps.transactions.run(async (stores) => {
      const user = assertSameAccount(pending, await stores.users.lock(pending.userId));
      if (!(await mayEnrol(deps, stores.records, user)))
        throw invalidSecondFactor('the user has a factor, or log-ins need none');
      return addApp(deps, stores, user, factorSecrets);
    });
  };

type FinishLoginInput = ClientContext & {
  /** The texts of pending log-ins that the browser presents. */
  readonly pendingLogins: readonly string[];
  /** `mailCode` finishes a log-in that needs a code by mail, and the device is then remembered. */
  readonly factor: PresentedFactor | { readonly mailCode: string };
  /** Whether the device is remembered: it needs no second factor for up to 30 days. No effect with `mailCode`, or if the user has no authenticator app. */
  readonly remember?: boolean | undefined;
};

/** Opens the session of a pending log-in for a user who presents the second factor or the code by mail, or adds the first factor. */
export const finishLogin =
  (deps: Service) =>
  async (input: FinishLoginInput, cancellation = NEVER_CANCELLED) => {
    const { pendingLogins, factor, remember = false, rememberedDevices: texts = [] } = input;
    if ('mailCode' in factor) {
      const asked = unsealCodes(deps, pendingLogins, 'new-device-code');
      const finished = await finishWithCode(deps, asked, factor.mailCode, input, cancellation);
      return { ...finished, recoveryCodes: null };
    }
    const client = await loginClient(deps, input);
    const { origin, verified } = client;
    const { pending, user } = await openPendingLogin(deps, pendingLogins);
    assertMayLogIn(deps, user);
    const token = verified.find(({ claims }) => claims.sub === user.id);
    const enrols = await mayEnrol(deps, deps.records, user);
    const presentation = { user, attempts: codeAttempts(user, token), origin };
    const verify = enrols ? verifyFirstCode : verifyFactor;
    const { method, use } = await verify(deps, factor, presentation).catch(reportRefusal(deps, user, origin));
    const authentications = [
      { method: pending.method, at: pending.startedAt },
      { method, at: deps.clock.now() },
    ] as const;
    return openLogin(deps, client, { user, authentications, cancellation }, async (stores, store) => {
      const locked = assertSameAccount(pending, await stores.users.lock(user.id));
      if (enrols !== (await mayEnrol(deps, stores.records, locked)))
        throw invalidSecondFactor('the factors of the user have changed');
      await usePendingLogin(stores, pending);
      // The session is stored first, so that the link in the mail about the log-in also undoes the factor that is added below.
      const opened = await store(locked);
      await use(stores);
      const addedAppIds = enrols ? (await factorsOf(stores.records, user.id)).map(({ id }) => id) : [];
      const enrolment = { user: locked, addedAppIds, sessionId: opened.sessionId, origin };
      const recoveryCodes = enrols ? await enrol(deps, stores, enrolment) : null;
      const remembers = remember && (enrols || locked.secondFactorAt !== null);
      const rememberedDevice = remembers ? await rememberDevice(deps, stores, { user: locked, texts, origin }) : null;
      return { opened, recoveryCodes, rememberedDevice };
    });
  };
