import { NO_ORIGIN, type Origin } from '../../domain/event.ts';
import type { User } from '../../domain/user.ts';
import { newPendingLogin, type PendingLoginDeps } from '../login/pending-login.ts';
import type { MayLogInDeps } from '../login/store-login.ts';
import type { Stores } from '../ports/transactions.ts';
import type { UserRepository } from '../ports/user-repository.ts';
import { type OpenedSession, type PrepareSessionDeps, prepareSession, storeSession } from '../sessions/open-session.ts';
import { NOTHING_PRESENTED, type ProveDeviceDeps, provenKeys } from '../sessions/prove-device.ts';
import { type Cancellation, type ChangeDeps, enqueue, NEVER_CANCELLED, record } from '../use-case.ts';
import {
  type ApplicantDeps,
  applicantOf,
  assertAllowed,
  isTaken,
  type RegisterInput,
  underFreeUsername,
} from './applicant.ts';
import { assertNotReserved } from './links.ts';

export type RegisterDeps = ChangeDeps &
  ApplicantDeps &
  MayLogInDeps &
  ProveDeviceDeps &
  PrepareSessionDeps & {
    readonly users: UserRepository;
  };

export type RegisterPendingDeps = RegisterDeps & PendingLoginDeps;

/**
 * Registers a user and opens a session. If addresses are verified, a link is sent. After a failure the user is removed again, so that the
 * client can repeat the request (ADR 0003).
 * @throws AppError AUTH_DEVICE_UNPROVEN, AUTH_PROOF_EXPIRED, AUTH_REGISTRATION_CLOSED, AUTH_REGISTRATION_REFUSED, AUTH_USER_DUPLICATE,
 *   CLIENT_PARAMS_VALIDATION_FAILED, SYS_HOOK_UNAVAILABLE
 */
export const register = (deps: RegisterDeps) => {
  const applicant = applicantOf(deps);
  return async (input: RegisterInput, cancellation = NEVER_CANCELLED): Promise<OpenedSession> => {
    const { origin = NO_ORIGIN, presented = NOTHING_PRESENTED, password } = input;
    assertAllowed(deps, input);
    const keys = await provenKeys(deps, presented);
    const applied = await applicant(input);
    cancellation.throwIfAborted();
    const now = applied.user.createdAt;
    const method = password === undefined ? 'registration-without-password' : 'registration';
    return underFreeUsername(deps.users, applied, async (user) => {
      const authentications = [{ method, at: now }] as const;
      const { session, opened } = await prepareSession(deps, { user, now, origin, keys, authentications });
      await store(deps, { user, origin, cancellation }, (stores) =>
        storeSession(deps, stores, session, { kind: 'registered', user, origin }),
      );
      return opened;
    });
  };
};

/**
 * Registers a user who has to add a second factor before the first log-in, as `register` does otherwise.
 * @returns the pending log-in of the user, for the cookie of `finishLogin`; `null` for a user without a password, who has presented nothing.
 * @throws AppError AUTH_REGISTRATION_CLOSED, AUTH_REGISTRATION_REFUSED, AUTH_USER_DUPLICATE,
 *   CLIENT_PARAMS_VALIDATION_FAILED, SYS_HOOK_UNAVAILABLE
 */
export const registerPending = (deps: RegisterPendingDeps) => {
  const applicant = applicantOf(deps);
  return async (input: RegisterInput, cancellation = NEVER_CANCELLED): Promise<string | null> => {
    const { origin = NO_ORIGIN } = input;
    assertAllowed(deps, input);
    const applied = await applicant(input);
    await underFreeUsername(deps.users, applied, (user) =>
      store(deps, { user, origin, cancellation }, (stores) =>
        record(deps, stores, origin, [{ userId: user.id, kind: 'registered' }]),
      ),
    );
    return input.password === undefined ? null : newPendingLogin(deps, applied.user);
  };
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

/** If the user cannot be removed, the client gets the first error all the same. */
const removeIfPossible = async (users: UserRepository, { id }: User): Promise<void> => {
  await users.remove(id).catch(() => undefined);
};
