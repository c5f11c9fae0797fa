import { AppError, duplicateUser } from '../../domain/errors/app-error.ts';
import { NO_ORIGIN, type Origin } from '../../domain/event.ts';
import { isHash, NO_PASSWORD } from '../../domain/password.ts';
import { isImported, type User } from '../../domain/user.ts';
import { assertNotReserved, isReserved } from '../links.ts';
import type { Stores } from '../ports/transactions.ts';
import { enqueue, NEVER_CANCELLED, record } from '../use-case.ts';
import { applicantOf, assertAllowed, type RegisterInput } from './applicant.ts';
import type { RegisterDeps } from './register.ts';

export type RegisterUnverifiedDeps = RegisterDeps & { readonly pause: Pause };

/** Several times as long as a registration takes in the database. */
const PADDING = 100;

type Registration = {
  readonly user: User;
  readonly origin: Origin;
};

/**
 * Registers a user who cannot log in before the address is verified. The response does not show whether the address has an account: its
 * owner gets a mail (ADR 0010). A derived username has its longest random number, so that a taken one does not show it either. Every
 * registration with a password computes one hash. The database work differs, so its time is padded.
 * @throws AppError AUTH_REGISTRATION_CLOSED, AUTH_REGISTRATION_REFUSED, AUTH_USER_DUPLICATE for the username alone,
 *   CLIENT_PARAMS_VALIDATION_FAILED, SYS_HOOK_UNAVAILABLE
 */
export const registerUnverified = (deps: RegisterUnverifiedDeps) => {
  const applicant = applicantOf(deps);
  return async (input: RegisterInput, cancellation = NEVER_CANCELLED): Promise<void> => {
    const { origin = NO_ORIGIN } = input;
    await assertAllowed(deps, input);
    const { user } = await applicant(input);
    cancellation.throwIfAborted();
    await padResponseTime(deps.pause, PADDING, () => storeWithRetry(deps, { user, origin }));
  };
};

/** Tries again after a concurrent registration of the same username or address. */
const storeWithRetry = async (deps: RegisterUnverifiedDeps, registration: Registration): Promise<void> => {
  try {
    await store(deps, registration);
  } catch (error) {
    if (!(error instanceof ConcurrentRegistration)) throw error;
    await storeWithRetry(deps, registration);
  }
};

class ConcurrentRegistration extends Error {}

const store = (deps: RegisterUnverifiedDeps, { user, origin }: Registration): Promise<void> =>
  deps.transactions.run(async (stores) => {
    if ((await stores.users.findByUsername(user.username)) !== null) throw duplicateUser('username');
    const owner = await stores.users.findByEmail(user.email);
    if (owner !== null) await notifyOwner(deps, stores, owner, origin);
    else if (!(await isReserved(deps, stores, user))) await add(deps, stores, user, origin);
  });

const add = async (deps: RegisterUnverifiedDeps, stores: Stores, user: User, origin: Origin): Promise<void> => {
  try {
    await stores.users.add(user);
    await assertNotReserved(deps, stores, user);
  } catch (error) {
    throw error instanceof AppError && error.code === 'AUTH_USER_DUPLICATE' ? new ConcurrentRegistration() : error;
  }
  await record(deps, stores, origin, [{ userId: user.id, kind: 'registered' }]);
  await enqueue(deps, stores, origin, [{ kind: 'email-verification', userId: user.id, to: user.email }]);
};

const MAILS_PER_PERIOD = 5;
const PERIOD = 86_400_000;

/**
 * Notifies the owner of an address that somebody tried to register with it. If the address is not verified, either registration may be
 * the owner's. Then the account loses its password, and the owner sets a new one by mail. An import was no stranger's registration.
 */
const notifyOwner = async (
  deps: RegisterUnverifiedDeps,
  stores: Stores,
  { id: userId, email }: User,
  origin: Origin,
): Promise<void> => {
  const now = deps.clock.now();
  const unverified = await stores.users.update(userId, { now }, { email, emailVerifiedAt: null });
  if (unverified !== null && !isImported(unverified) && isHash(unverified.passwordHash))
    await stores.users.setPasswordHash(userId, { passwordHash: NO_PASSWORD, isOfNewPassword: true, now });
  const earlier = await stores.events.countSince(userId, 'registration-refused', now - PERIOD);
  if (earlier >= MAILS_PER_PERIOD) return;
  await record(deps, stores, origin, [{ userId, kind: 'registration-refused' }]);
  await enqueue(deps, stores, origin, [{ kind: 'address-taken', userId, to: email }]);
};

export type Pause = (time: number) => Promise<unknown>;

/**
 * Hides the duration of work: the result comes after `step` milliseconds, or after a multiple of it when the work takes longer.
 */
export const padResponseTime = async <Result>(
  pause: Pause,
  step: number,
  work: () => Promise<Result>,
): Promise<Result> => {
  let isDone = false;
  const end = () => {
    isDone = true;
  };
  // The timer starts first, so that the synchronous part of the work does not delay its end.
  const first = pause(step);
  const working = work();
  working.then(end, end);
  await first;
  while (!isDone) await pause(step);
  return working;
};
