import type { SecondFactorPolicy } from '../../domain/assurance.ts';
import { NO_ORIGIN, type Origin } from '../../domain/event.ts';
import { isConfirmed } from '../../domain/second-factor.ts';
import type { User } from '../../domain/user.ts';
import { codeAttempts } from '../login/compare-password.ts';
import { askedBy, finishWithCode } from '../login/new-device-code.ts';
import {
  assertSameAccount,
  hasLaterLogin,
  invalidSecondFactor,
  openPendingLogin,
  type PendingLogin,
  usePendingLogin,
} from '../login/pending-login.ts';
import { assertMayLogIn, reportRefusal, storeLogin } from '../login/store-login.ts';
import { expiryOf } from '../login-code.ts';
import type { FactorSecrets } from '../ports/secrets.ts';
import { NEVER_CANCELLED, type Service } from '../service.ts';
import { rememberDevice } from '../sessions/end-sessions.ts';
import { type OpenedSession, prepareSession } from '../sessions/open-session.ts';
import { NOTHING_PRESENTED, type Presented, provenKeys } from '../sessions/prove-device.ts';
import { verifiedTokens } from '../sessions/tokens.ts';
import { codesOf, factorsOf, passkeysOf } from '../storage/credentials.ts';
import type { Records } from '../storage/records.ts';
import { addApp, enrol, type StartedApp } from './enrol-app.ts';
import { type NewChallenge, newChallenge } from './use-passkey.ts';
import { type PresentedFactor, type VerifiedFactor, verifyFactor, verifyFirstCode } from './verify-factor.ts';

type SecondFactorMethod = 'totp' | 'recovery-code' | 'passkey' | 'mail-code';

type ShownPendingLogin = {
  readonly methods: SecondFactorMethod[];
  /** Whether the user has none, and may add an authenticator app now. */
  readonly enrol: boolean;
  readonly expiresAt: number;
  readonly challenge: NewChallenge | null;
};

/**
 * What a pending log-in waits for.
 * @throws AppError AUTH_SECOND_FACTOR_INVALID when no log-in is pending.
 */
export const showPendingLogin =
  (deps: Service) =>
  async (pendingLogins: readonly string[]): Promise<ShownPendingLogin> => {
    const asked = askedBy(deps, pendingLogins);
    if (asked !== null && !hasLaterLogin(deps, pendingLogins, asked.codes[0].askedAt))
      return { methods: ['mail-code'], enrol: false, expiresAt: expiryOf(asked.codes[0]), challenge: null };
    const { pending, user } = await openPendingLogin(deps, pendingLogins);
    const [factors, codes, passkeys] = await Promise.all([
      factorsOf(deps.records, user.id),
      codesOf(deps.records, user.id),
      passkeysOf(deps.records, user.id),
    ]);
    const hasApp = deps.secrets.factors !== null && factors.some(isConfirmed);
    const hasPasskey = passkeys.length > 0;
    return {
      methods: [
        ...(hasApp ? (['totp'] as const) : []),
        ...(codes.length > 0 ? (['recovery-code'] as const) : []),
        ...(hasPasskey ? (['passkey'] as const) : []),
      ],
      enrol: await mayEnrol(deps, deps.records, user),
      expiresAt: pending.expiresAt,
      challenge: hasPasskey ? newChallenge(deps, { purpose: 'passkey-use', userId: '', sessionId: '' }) : null,
    };
  };

/** Whether the user of a pending log-in adds a factor instead of presenting one. Somebody with the password alone cannot, if there is one. */
const mayEnrol = async (
  { secondFactor }: SecondFactorPolicy,
  records: Records,
  { id, secondFactorAt }: User,
): Promise<boolean> =>
  secondFactor === 'required' && secondFactorAt === null && (await passkeysOf(records, id)).length === 0;

/**
 * Makes the secret of an authenticator app for the user of a pending log-in who has to add a factor. Its first code finishes the log-in.
 * @throws AppError AUTH_SECOND_FACTOR_INVALID
 */
export const startPendingApp =
  (deps: Service, factorSecrets: FactorSecrets) =>
  async (pendingLogins: readonly string[]): Promise<StartedApp> => {
    const { pending } = await openPendingLogin(deps, pendingLogins);
    return deps.transactions.run(async (stores) => {
      const user = assertSameAccount(pending, await stores.users.lock(pending.userId));
      if (!(await mayEnrol(deps, stores.records, user)))
        throw invalidSecondFactor('the user has a factor, or log-ins need none');
      return addApp(deps, stores, user, factorSecrets);
    });
  };

type FinishLoginInput = {
  /** As the browser presents them, like `rememberedDevices`. */
  readonly pendingLogins: readonly string[];
  /** The code of a mail is of a log-in on a new device, which is remembered. */
  readonly factor: PresentedFactor | { readonly mailCode: string };
  readonly networks?: readonly string[];
  /** Whether the password is enough on this device from now on. Without effect for a user who has passkeys alone. */
  readonly remember?: boolean | undefined;
  readonly rememberedDevices?: readonly string[];
  readonly refreshTokens?: readonly string[];
  readonly origin?: Origin;
  readonly presented?: Presented;
};

type FinishedLogin = {
  readonly opened: OpenedSession;
  readonly recoveryCodes: string[] | null;
  readonly rememberedDevice: string | null;
};

/**
 * Opens the session of a pending log-in for a user who presents the second factor, or adds the first one. Both are used up together with it.
 * @throws AppError AUTH_ACCOUNT_DISABLED, AUTH_DEVICE_UNPROVEN, AUTH_EMAIL_UNVERIFIED, AUTH_PASSKEY_INVALID, AUTH_PROOF_EXPIRED,
 *   AUTH_SECOND_FACTOR_INVALID, CLIENT_REQUEST_RATE_LIMIT_EXCEEDED; DB_RECORD_NOT_FOUND when nobody has such a passkey.
 */
export const finishLogin =
  (deps: Service) =>
  async (input: FinishLoginInput, cancellation = NEVER_CANCELLED): Promise<FinishedLogin> => {
    const { pendingLogins, factor, refreshTokens = [], origin = NO_ORIGIN, presented = NOTHING_PRESENTED } = input;
    const { remember = false, rememberedDevices: texts = [], networks = ['unknown'] } = input;
    if ('mailCode' in factor) {
      const source = { rememberedDevices: texts, refreshTokens, networks, origin, presented };
      const asked = askedBy(deps, pendingLogins);
      const finished = await finishWithCode(deps, asked, { ...factor, ...source }, cancellation);
      return { ...finished, recoveryCodes: null };
    }
    const keys = await provenKeys(deps, presented);
    const verified = await verifiedTokens(deps, refreshTokens);
    const { pending, user } = await openPendingLogin(deps, pendingLogins);
    assertMayLogIn(deps, user);
    const own = verified.find(({ claims }) => claims.sub === user.id);
    const enrols = await mayEnrol(deps, deps.records, user);
    const presentation = { user, attempts: codeAttempts(user, own), origin };
    const verify = enrols ? verifyFirstCode : verifyFactor;
    const verifiedFactor = await verify(deps, factor, presentation).catch(reportRefusal(deps, user, origin));
    const now = deps.clock.now();
    const authentications = [
      { method: pending.method, at: pending.startedAt },
      { method: verifiedFactor.method, at: now },
    ] as const;
    const { session, opened } = await prepareSession(deps, { user, now, origin, keys, authentications });
    cancellation.throwIfAborted();
    const login = { session, verified, origin };
    return {
      opened,
      ...(await store(deps, { pending, verifiedFactor, enrols, login, texts: remember ? texts : null })),
    };
  };

type Finishing = {
  readonly pending: PendingLogin;
  readonly verifiedFactor: VerifiedFactor;
  /** Whether it was the first code of an app. */
  readonly enrols: boolean;
  readonly login: Omit<Parameters<typeof storeLogin>[2], 'user'>;
  /** What the browser presents of remembered devices; `null`: the device is not to be remembered. */
  readonly texts: readonly string[] | null;
};

const store = (
  deps: Service,
  { pending, verifiedFactor, enrols, login, texts }: Finishing,
): Promise<Omit<FinishedLogin, 'opened'>> =>
  deps.transactions.run(async (stores) => {
    const { session, origin } = login;
    const user = assertSameAccount(pending, await stores.users.lock(pending.userId));
    if (enrols !== (await mayEnrol(deps, stores.records, user)))
      throw invalidSecondFactor('the factors of the user have changed');
    await usePendingLogin(stores, pending);
    // Before what it adds: the mail about the log-in undoes that, too.
    await storeLogin(deps, stores, { user, ...login });
    await verifiedFactor.use(stores);
    const appIds = enrols ? (await factorsOf(stores.records, user.id)).map(({ id }) => id) : [];
    const enrolment = { user, appIds, sessionId: session.id, origin };
    const recoveryCodes = enrols ? await enrol(deps, stores, enrolment) : null;
    const remembers = texts !== null && (enrols || user.secondFactorAt !== null);
    const rememberedDevice = remembers ? await rememberDevice(deps, stores, { user, texts, origin }) : null;
    return { recoveryCodes, rememberedDevice };
  });
