import { needsSecondFactor } from '../../domain/assurance.ts';
import { AppError } from '../../domain/errors/app-error.ts';
import { NO_ORIGIN, type Origin } from '../../domain/event.ts';
import { isHashable, UNKNOWN_PASSWORD } from '../../domain/password.ts';
import type { Session } from '../../domain/session.ts';
import type { User } from '../../domain/user.ts';
import { askForOtherPassword, notifyOfPassword } from '../notices.ts';
import type { RefreshToken } from '../ports/token-signer.ts';
import { findByAccount, NEVER_CANCELLED, type Service } from '../service.ts';
import { rememberedDeviceId } from '../sessions/end-sessions.ts';
import { prepareSession } from '../sessions/open-session.ts';
import { NOTHING_PRESENTED, type Presented, provenKeys } from '../sessions/prove-device.ts';
import { verifiedTokens } from '../sessions/tokens.ts';
import { assertSamePassword, comparePassword, loginAttempts } from './compare-password.ts';
import { askForCode, codeNeeded } from './new-device-code.ts';
import { type LoginResult, newPendingLogin } from './pending-login.ts';
import { recover } from './recover.ts';
import { assertMayLogIn, isOwn, reportRefusal, storeLogin } from './store-login.ts';

type LoginSource = {
  readonly networks: readonly string[];
  readonly refreshTokens: readonly string[];
};

type LoginInput = {
  readonly account: string;
  readonly password: string;
  readonly source?: LoginSource;
  readonly origin?: Origin;
  readonly presented?: Presented;
  readonly rememberedDevices?: readonly string[];
  readonly pendingLogins?: readonly string[];
};

const UNKNOWN_SOURCE: LoginSource = { networks: ['unknown'], refreshTokens: [] };

/**
 * Opens a session for a user who knows the password, or a pending log-in if the user needs a second factor and the device is not
 * remembered. A new device may need a code by mail. The sessions end whose tokens the request presents. An unknown account takes as long as a known one.
 * @throws AppError AUTH_ACCOUNT_DISABLED, AUTH_CREDENTIALS_INVALID, AUTH_DEVICE_UNPROVEN, AUTH_EMAIL_UNVERIFIED, AUTH_PROOF_EXPIRED,
 *   CLIENT_REQUEST_RATE_LIMIT_EXCEEDED
 */
export const login = (deps: Service) => {
  const oneAtATime = keyedMutex();
  return async (input: LoginInput, cancellation = NEVER_CANCELLED): Promise<LoginResult> => {
    const { password, source = UNKNOWN_SOURCE, origin = NO_ORIGIN, presented = NOTHING_PRESENTED } = input;
    const keys = await provenKeys(deps, presented);
    const verified = await verifiedTokens(deps, source.refreshTokens);
    const found = await findByAccount(deps, input.account);
    const recovery = recover(deps, found, password, { keys, verified, origin, cancellation });
    const recovered = await recovery.catch(reportRefusal(deps, found, origin));
    if (recovered !== null) return recovered;
    const { networks } = source;
    const { rememberedDevices = [], pendingLogins = [] } = input;
    const needed = await codeNeeded(deps, found, { keys, verified, rememberedDevices });
    const admission = admit(deps, found, input, { networks, verified }, needed.ofRight);
    const user = await admission.catch(reportRefusal(deps, found, origin)).catch(nobodyIf(needed.ofWrong));
    cancellation.throwIfAborted();
    if (user === null || needed.ofRight)
      return { pendingLogin: await askForCode(deps, { account: input.account, origin, pendingLogins }, user) };
    const current = await rehashIfNeeded(deps, user, password);
    cancellation.throwIfAborted();
    const flaw = await flawOf(deps, password);
    if (flaw !== null) await askForOtherPassword(deps, flaw, user, origin);
    const isGuarded = needsSecondFactor(deps, current);
    const deviceId = isGuarded ? await rememberedDeviceId(deps, current, rememberedDevices) : null;
    if (isGuarded && deviceId === null) {
      if (!isOwn(verified, current)) await notifyOfPassword(deps, current, origin);
      return { pendingLogin: newPendingLogin(deps, current) };
    }
    const now = deps.clock.now();
    const { session, opened } = await prepareSession(deps, {
      user: current,
      now,
      origin,
      keys,
      authentications: [{ method: 'password', at: now }],
    });
    // Log-ins of one user wait for each other here, and not in the database, where each would hold a connection (ADR 0019).
    await oneAtATime(user.id, () => {
      cancellation.throwIfAborted();
      return store(deps, { user: current, session, verified, origin, rememberedDeviceId: deviceId });
    });
    return opened;
  };
};

type LogIn = {
  readonly user: User;
  readonly session: Session;
  readonly verified: readonly RefreshToken[];
  readonly origin: Origin;
  readonly rememberedDeviceId: string | null;
};

/** Locks the user, and compares the password again: a change of it has ended only the sessions that were stored before. */
const store = (deps: Service, { user, ...login }: LogIn): Promise<void> =>
  deps.transactions.run(async (stores) => {
    const locked = await stores.users.lock(user.id);
    if (locked === null) throw new AppError('AUTH_CREDENTIALS_INVALID', { reason: 'the user was deleted' });
    assertSamePassword(user, locked);
    await storeLogin(deps, stores, { user: locked, ...login });
  });

const admit = async (
  deps: Service,
  user: User | null,
  { account, password }: LoginInput,
  source: Parameters<typeof loginAttempts>[2],
  needsCode: boolean,
): Promise<User> => {
  const candidates = loginAttempts(account, user, source);
  const matches = await comparePassword(deps, candidates, password, user, { hidesMatch: needsCode });
  if (user === null || !matches) throw new AppError('AUTH_CREDENTIALS_INVALID');
  // The code comes first: whether the account is disabled would say that the password was right.
  if (!needsCode) assertMayLogIn(deps, user);
  return user;
};

/** @param hides whether a wrong password, or account, is answered as a right one. */
const nobodyIf =
  (hides: boolean) =>
  (error: unknown): null => {
    if (hides && error instanceof AppError && error.code === 'AUTH_CREDENTIALS_INVALID') return null;
    throw error;
  };

/** What is wrong with a password that was right: it came from another system, or has leaked since. */
const flawOf = async ({ passwordLimits, isLeakedPassword }: Service, password: string) => {
  if (!isHashable(password, passwordLimits.maxBytes)) return 'password-too-long' as const;
  return (await isLeakedPassword?.(password)) === true ? ('password-leaked' as const) : null;
};

/**
 * Replaces the hash of a user whom the former system has verified, who was imported, or whose hash was made at a lower cost than the configured one.
 * Keeps it if the password was changed meanwhile, if hashing fails, or if the password is longer than a hash reads.
 * @returns the user as stored now. Never rejects.
 */
const rehashIfNeeded = async (
  { users, hasher, clock, report, passwordLimits }: Service,
  user: User,
  password: string,
): Promise<User> => {
  const isOutdated = user.passwordHash === UNKNOWN_PASSWORD || hasher.needsRehash(user.passwordHash);
  if (!isOutdated || !isHashable(password, passwordLimits.maxBytes)) return user;
  try {
    const passwordHash = await hasher.hash(password);
    const updatedAt = clock.now();
    const changed = await users.setPasswordHash(user.id, {
      passwordHash,
      isOfNewPassword: false,
      now: updatedAt,
      replaces: user.passwordHash,
    });
    return changed ? { ...user, passwordHash, updatedAt } : user;
  } catch (error) {
    report?.('rehash-failed', error);
    return user;
  }
};

/** Runs the work of one key one after the other, in order of arrival. Work of other keys does not wait for it. */
export type KeyedMutex = <Result>(key: string, work: () => Promise<Result>) => Promise<Result>;

export const keyedMutex = (): KeyedMutex => {
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
