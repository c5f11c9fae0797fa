import type { Attributes } from '../../domain/attributes.ts';
import { AppError } from '../../domain/errors/app-error.ts';
import { NO_ORIGIN, type Origin } from '../../domain/event.ts';
import { preferredLocale } from '../../domain/locale.ts';
import { assertPasswordAllowed, type PasswordRuleDeps } from '../../domain/password.ts';
import { assertMayRegister, type RegistrationPolicy } from '../../domain/registration.ts';
import { canonicalEmail, newUser, type User } from '../../domain/user.ts';
import { newPendingLogin, type PendingLoginDeps } from '../login/pending-login.ts';
import type { MayLogInDeps } from '../login/store-login.ts';
import type { BeforeRegister } from '../ports/hooks.ts';
import type { PasswordHasher } from '../ports/password-hasher.ts';
import type { Stores } from '../ports/transactions.ts';
import type { UserRepository } from '../ports/user-repository.ts';
import { type OpenedSession, type PrepareSessionDeps, prepareSession, storeSession } from '../sessions/open-session.ts';
import { NOTHING_PRESENTED, type Presented, type ProveDeviceDeps, provenKeys } from '../sessions/prove-device.ts';
import { type Cancellation, type ChangeDeps, enqueue, NEVER_CANCELLED, record } from '../use-case.ts';
import { assertNotReserved } from './links.ts';

export type RegisterDeps = ChangeDeps &
  PasswordRuleDeps &
  MayLogInDeps &
  ProveDeviceDeps &
  PrepareSessionDeps & {
    readonly users: UserRepository;
    readonly hasher: PasswordHasher;
    readonly registration?: RegistrationPolicy;
    readonly mailLocales?: readonly string[] | undefined;
    /** Decides about registrations that would be accepted otherwise. */
    readonly beforeRegister?: BeforeRegister | undefined;
  };

export type RegisterPendingDeps = RegisterDeps & PendingLoginDeps;

export type RegisterInput = {
  readonly username: string;
  readonly email: string;
  readonly password: string;
  readonly locales?: readonly string[];
  /** For the hook of registrations. */
  readonly extra?: Readonly<Record<string, string>> | undefined;
  readonly origin?: Origin;
  readonly presented?: Presented;
};

/**
 * Registers a user and opens a session. If addresses are verified, a link is sent. After a failure the user is removed again, so that the
 * client can repeat the request (ADR 0003).
 * @throws AppError AUTH_DEVICE_UNPROVEN, AUTH_PROOF_EXPIRED, AUTH_REGISTRATION_CLOSED, AUTH_REGISTRATION_REFUSED, AUTH_USER_DUPLICATE,
 *   CLIENT_PARAMS_VALIDATION_FAILED, SYS_HOOK_UNAVAILABLE
 */
export const register =
  (deps: RegisterDeps) =>
  async (input: RegisterInput, cancellation = NEVER_CANCELLED): Promise<OpenedSession> => {
    const { origin = NO_ORIGIN, presented = NOTHING_PRESENTED } = input;
    assertMayRegister(deps.registration, input.email);
    assertPasswordAllowed(deps, input, 'password');
    const keys = await provenKeys(deps, presented);
    const user = await userOf(deps, input);
    cancellation.throwIfAborted();
    const now = user.createdAt;
    const authentications = [{ method: 'registration', at: now }] as const;
    const { session, opened } = await prepareSession(deps, { user, now, origin, keys, authentications });
    await store(deps, { user, origin, cancellation }, (stores) =>
      storeSession(deps, stores, session, { kind: 'registered', user, origin }),
    );
    return opened;
  };

/**
 * Registers a user who has to add a second factor before the first log-in, as `register` does otherwise.
 * @returns the pending log-in of the user, for the cookie of `finishLogin`.
 * @throws AppError AUTH_REGISTRATION_CLOSED, AUTH_REGISTRATION_REFUSED, AUTH_USER_DUPLICATE,
 *   CLIENT_PARAMS_VALIDATION_FAILED, SYS_HOOK_UNAVAILABLE
 */
export const registerPending =
  (deps: RegisterPendingDeps) =>
  async (input: RegisterInput, cancellation = NEVER_CANCELLED): Promise<string> => {
    const { origin = NO_ORIGIN } = input;
    assertMayRegister(deps.registration, input.email);
    assertPasswordAllowed(deps, input, 'password');
    const user = await userOf(deps, input);
    await store(deps, { user, origin, cancellation }, (stores) =>
      record(deps, stores, origin, [{ userId: user.id, kind: 'registered' }]),
    );
    return newPendingLogin(deps, user);
  };

/** Makes the user of a registration: asks the hook, and then hashes the password. Both depend on nothing that is stored. */
export const userOf = async (deps: RegisterDeps, input: RegisterInput): Promise<User> => {
  const { hasher, clock, ids, mailLocales = [] } = deps;
  const { username, email, password, locales = [] } = input;
  const locale = preferredLocale(locales, mailLocales);
  const attributes = await admitted(deps, input, locale);
  const passwordHash = await hasher.hash(password);
  return newUser({ id: ids.next(), username, email, passwordHash, now: clock.now(), locale, attributes });
};

/** @returns what the hook states about the user. */
const admitted = async (
  { beforeRegister }: RegisterDeps,
  { username, email, origin = NO_ORIGIN, extra = {} }: RegisterInput,
  locale: string | null,
): Promise<Attributes> => {
  if (beforeRegister === undefined) return {};
  const { address, userAgent } = origin;
  const answer = await beforeRegister({ username, email: canonicalEmail(email), locale, address, userAgent, extra });
  if (answer.decision === 'allow') return answer.attributes ?? {};
  const { message } = answer;
  throw new AppError('AUTH_REGISTRATION_REFUSED', { reason: 'by a hook', ...(message !== undefined && { message }) });
};

type Registration = { readonly user: User; readonly origin: Origin; readonly cancellation: Cancellation };

/** @param complete stores what belongs to the registration, in its transaction. */
const store = async (
  deps: RegisterDeps,
  { user, origin, cancellation }: Registration,
  complete: (stores: Stores) => Promise<void>,
): Promise<void> => {
  const { users, transactions, emailVerification = 'off' } = deps;
  cancellation.throwIfAborted();
  try {
    await transactions.run(async (stores) => {
      await stores.users.add(user);
      cancellation.throwIfAborted();
      await assertNotReserved(deps, stores, user);
      await complete(stores);
      if (emailVerification === 'off') return;
      await enqueue(deps, stores, origin, [{ kind: 'email-verification', userId: user.id, to: user.email }]);
    });
    cancellation.throwIfAborted();
  } catch (error) {
    if (!isTaken(error)) await removeIfPossible(users, user);
    throw error;
  }
};

const isTaken = (error: unknown): boolean =>
  error instanceof AppError && (error.code === 'AUTH_USER_DUPLICATE' || error.code === 'DB_UNIQUE_VIOLATION');

/** If the user cannot be removed, the client gets the first error all the same. */
const removeIfPossible = async (users: UserRepository, { id }: User): Promise<void> => {
  await users.remove(id).catch(() => undefined);
};
