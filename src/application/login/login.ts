import { needsSecondFactor, type SecondFactorPolicy } from '../../domain/assurance.ts';
import { isDeviceKnown } from '../../domain/device.ts';
import { AppError } from '../../domain/errors/app-error.ts';
import { isHashable, NO_PASSWORD, UNKNOWN_PASSWORD } from '../../domain/password.ts';
import { canonicalRecoveryCode } from '../../domain/second-factor.ts';
import type { User } from '../../domain/user.ts';
import { askForOtherPassword, notifyOfMissingFactor, recordChange } from '../notices.ts';
import { type Cancellation, findByAccount, NEVER_CANCELLED, type Service } from '../service.ts';
import { findRememberedDevice } from '../sessions/end-sessions.ts';
import type { OpenedSession } from '../sessions/open-session.ts';
import type { ClientContext } from '../sessions/prove-device.ts';
import { identitiesOf, recoveryCodesOf, useRecoveryCode } from '../storage/credentials.ts';
import { messagesOf } from '../storage/outbox.ts';
import type { Records } from '../storage/records.ts';
import { comparePassword, loginAttempts, tokenOfUser } from './compare-password.ts';
import { askForDeviceCode } from './new-device-code.ts';
import {
  assertMayLogIn,
  type LoginClient,
  loginClient,
  openLogin,
  openPasswordLogin,
  reportRefusal,
} from './open-login.ts';
import { type LoginResult, newPendingLogin } from './pending-login.ts';

type LoginInput = ClientContext & {
  readonly account: string;
  readonly password: string;
  readonly pendingLogins?: readonly string[];
};

/**
 * Opens a session by the password, or by a recovery code in its place, or begins a pending log-in (`LoginResult`). The session replaces those of the user
 * whose tokens the request presents. An unknown account takes as long as a wrong password of an account with a hash of this service.
 */
export const login = (deps: Service) => {
  const oneAtATime = keyedMutex();
  return async (input: LoginInput, cancellation = NEVER_CANCELLED): Promise<LoginResult> => {
    const { account, password, rememberedDevices = [], pendingLogins = [] } = input;
    const client = await loginClient(deps, input);
    const { origin, verified } = client;
    const found = await findByAccount(deps, account);
    const report = reportRefusal(deps, found, origin);
    const recovered = await logInByRecoveryCode(deps, found, password, client, cancellation).catch(report);
    if (recovered !== null) return recovered;
    const codePolicy = await codePolicyFor(deps, found, client, rememberedDevices);
    const checked = checkPassword(deps, found, input, client, codePolicy.afterRight);
    const user = await checked.catch(report).catch(hideWrongPassword(codePolicy.afterWrong));
    cancellation.throwIfAborted();
    if (user === null || codePolicy.afterRight)
      return { pendingLogin: await askForDeviceCode(deps, { account, origin, pendingLogins }, user) };
    const current = await rehashIfNeeded(deps, user, password);
    cancellation.throwIfAborted();
    const flaw = await passwordFlaw(deps, password);
    if (flaw !== null) await askForOtherPassword(deps, flaw, user, origin);
    const needsFactor = needsSecondFactor(deps, current);
    const deviceId = needsFactor ? await findRememberedDevice(deps, current, rememberedDevices) : null;
    if (needsFactor && deviceId === null) {
      if (!tokenOfUser(verified, current)) await notifyOfMissingFactor(deps, current, origin);
      return { pendingLogin: newPendingLogin(deps, current) };
    }
    // In this process, log-ins of one user by password wait for each other here, and not in the database, where each would hold a connection (ADR 0019).
    const inTurn = <Result>(work: () => Promise<Result>) =>
      oneAtATime(current.id, () => {
        cancellation.throwIfAborted();
        return work();
      });
    const authentications = [{ method: 'password', at: deps.clock.now() }] as const;
    const opening = { user: current, authentications, cancellation };
    return openPasswordLogin(deps, client, opening, deviceId, inTurn);
  };
};

/** Whether the answer to a right password, and to a wrong password, asks for a code by mail. */
type CodePolicy = { readonly afterWrong: boolean; readonly afterRight: boolean };

/**
 * Unless `newDeviceCode` is off or every user needs a second factor, a new device needs a code by mail. A right password needs none if the user has a second
 * factor or an unproven address, or (`while-mail-works`) mail to the user is late.
 */
const codePolicyFor = async (
  deps: Service,
  user: User | null,
  client: LoginClient,
  rememberedDevices: readonly string[],
): Promise<CodePolicy> => {
  const { newDeviceCode = 'off', secondFactor } = deps;
  const isOff = newDeviceCode === 'off' || secondFactor === 'required';
  if (isOff || (await isKnownDevice(deps, user, client, rememberedDevices)))
    return { afterWrong: false, afterRight: false };
  const isLate = newDeviceCode === 'while-mail-works' && (await isMailLate(deps, user));
  const isAsked = user !== null && user.emailVerifiedAt !== null && !needsSecondFactor(deps, user);
  return { afterWrong: true, afterRight: isAsked && !isLate };
};

const isKnownDevice = async (
  deps: Service,
  user: User | null,
  { keys: { deviceKey }, verified }: LoginClient,
  rememberedDevices: readonly string[],
): Promise<boolean> => {
  const live = deviceKey === null ? [] : await deps.sessions.listByUser(user?.id ?? '', deps.clock.now());
  if (user === null) return false;
  if (tokenOfUser(verified, user) || live.some((session) => session.deviceKey === deviceKey)) return true;
  return (await findRememberedDevice(deps, user, rememberedDevices, isDeviceKnown)) !== null;
};

/** Milliseconds after which a mail is late. */
const LATE_AFTER = 5 * 60_000;

/** Whether a code for the user is late. Mail to others does not count, since anybody can enter an address to which no mail can be delivered. */
const isMailLate = async ({ records, clock }: Service, user: User | null): Promise<boolean> => {
  const latest = clock.now() - LATE_AFTER;
  const waiting = await messagesOf(records, user?.id ?? '');
  return waiting.some(({ kind, createdAt }) => kind === 'new-device-code' && createdAt <= latest);
};

/** Whether the user needs no second factor, and has only passkeys and recovery codes as ways in. An unproven address is no way in: it may be mistyped. */
export const hasOnlyPasskeys = async (policy: SecondFactorPolicy, records: Records, user: User): Promise<boolean> =>
  user.passwordHash === NO_PASSWORD &&
  user.emailVerifiedAt === null &&
  !needsSecondFactor(policy, user) &&
  (await identitiesOf(records, user.id)).length === 0;

/**
 * Opens a session by a recovery code in place of the password, for a user with only passkeys (`hasOnlyPasskeys`, ADR 0009).
 * @returns `null` for any other text or account
 */
const logInByRecoveryCode = async (
  deps: Service,
  user: User | null,
  typed: string,
  client: LoginClient,
  cancellation: Cancellation,
): Promise<OpenedSession | null> => {
  const code = canonicalRecoveryCode(typed);
  if (code === null) return null;
  const hash = deps.secrets.hashOf(code);
  const isTheirs = (await recoveryCodesOf(deps.records, user?.id ?? '')).includes(hash);
  if (user === null || !isTheirs || !(await hasOnlyPasskeys(deps, deps.records, user))) return null;
  const authentications = [{ method: 'recovery-code', at: deps.clock.now() }] as const;
  return openLogin(deps, client, { user, authentications, cancellation }, async (stores, store) => {
    const locked = await stores.users.lock(user.id);
    const isOnlyWay = locked !== null && (await hasOnlyPasskeys(deps, stores.records, locked));
    if (!isOnlyWay || !(await useRecoveryCode(stores.records, user.id, hash)))
      throw new AppError('AUTH_CREDENTIALS_INVALID', {
        reason: 'the recovery code was used, or the user has another way in',
      });
    await recordChange(deps, stores, { kind: 'recovery-code-used', user: locked, origin: client.origin });
    return store(locked);
  });
};

const checkPassword = async (
  deps: Service,
  user: User | null,
  { account, password, networks = ['unknown'] }: LoginInput,
  { verified }: LoginClient,
  needsCode: boolean,
): Promise<User> => {
  const candidates = loginAttempts(account, user, { networks, verified });
  const matches = await comparePassword(deps, candidates, password, user, { hidesMatch: needsCode });
  if (user === null || !matches) throw new AppError('AUTH_CREDENTIALS_INVALID');
  // If a code follows, a disabled account is not refused here, since that would show that the password was right. It gets no code.
  if (!needsCode) assertMayLogIn(deps, user);
  return user;
};

/** @param hides whether a wrong account or password gets the answer that asks for a code. */
const hideWrongPassword =
  (hides: boolean) =>
  (error: unknown): null => {
    if (hides && error instanceof AppError && error.code === 'AUTH_CREDENTIALS_INVALID') return null;
    throw error;
  };

/** Why a user should change the password, although it is right: it cannot be hashed anew, or it has leaked. `null`: neither. */
const passwordFlaw = async ({ passwordLimits, isLeakedPassword }: Service, password: string) => {
  if (!isHashable(password, passwordLimits.maxBytes)) return 'password-too-long' as const;
  return (await isLeakedPassword?.(password)) === true ? ('password-leaked' as const) : null;
};

/**
 * Stores a new hash for a user whom the former system has verified, or whose hash is outdated (`needsRehash`). Returns the user unchanged if another hash
 * was stored meanwhile, hashing or storing fails, or the password is not hashable (`isHashable`). Never rejects.
 */
const rehashIfNeeded = async (deps: Service, user: User, password: string): Promise<User> => {
  const { users, hasher, clock, report, passwordLimits } = deps;
  const isOutdated = user.passwordHash === UNKNOWN_PASSWORD || hasher.needsRehash(user.passwordHash);
  if (!isOutdated || !isHashable(password, passwordLimits.maxBytes)) return user;
  try {
    const passwordHash = await hasher.hash(password);
    const updatedAt = clock.now();
    const hash = { passwordHash, isOfNewPassword: false, now: updatedAt, replaces: user.passwordHash };
    const changed = await users.setPasswordHash(user.id, hash);
    return changed ? { ...user, passwordHash, updatedAt } : user;
  } catch (error) {
    report?.('rehash-failed', error);
    return user;
  }
};

/** Runs the work of each key in the order of the calls, one after the other. */
export const keyedMutex = (): (<Result>(key: string, work: () => Promise<Result>) => Promise<Result>) => {
  /** The end of the last work of each key; never rejects. */
  const last = new Map<string, Promise<unknown>>();
  return (key, work) => {
    const run = (last.get(key) ?? Promise.resolve()).then(work);
    const end = run
      .catch(() => undefined)
      .then(() => {
        if (last.get(key) === end) last.delete(key);
      });
    last.set(key, end);
    return run;
  };
};
