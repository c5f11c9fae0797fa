import { AppError } from '../../domain/errors/app-error.ts';
import { NO_ORIGIN, type Origin } from '../../domain/event.ts';
import { newUser, type User } from '../../domain/user.ts';
import { NEVER_CANCELLED } from '../cancellation.ts';
import type { PasswordBlocklist } from '../ports/password-blocklist.ts';
import type { PasswordHasher } from '../ports/password-hasher.ts';
import type { UserRepository } from '../ports/user-repository.ts';
import { assertPasswordAllowed } from '../steps/assert-password-allowed.ts';
import { assertNotReserved } from '../steps/links.ts';
import {
  keysOf,
  type OpenedSession,
  type PrepareSessionDeps,
  prepareSession,
  storeSession,
} from '../steps/open-session.ts';
import { NOTHING_PRESENTED, type Presented, type ProveDeviceDeps, provenDevice } from '../steps/prove-device.ts';
import { type ChangeDeps, enqueue } from '../steps/record.ts';

export type RegisterDeps = ChangeDeps &
  ProveDeviceDeps &
  PrepareSessionDeps & {
    readonly users: UserRepository;
    readonly hasher: PasswordHasher;
    /** `null`: common passwords are allowed. */
    readonly blocklist: PasswordBlocklist | null;
    /** Whether users verify their email addresses. Default: off. */
    readonly emailVerification?: 'off' | 'optional' | 'required' | undefined;
  };

/** Validated against the limits of the domain. */
export type RegisterInput = {
  readonly username: string;
  readonly email: string;
  readonly password: string;
  readonly origin?: Origin;
  readonly presented?: Presented;
};

/**
 * Registers a user and opens a session. If addresses are verified, a link is sent. After a failure the user is removed again, so that the
 * client can repeat the request (ADR 0022).
 * @throws AppError AUTH_DEVICE_UNPROVEN, AUTH_PROOF_EXPIRED, AUTH_USER_DUPLICATE, CLIENT_PARAMS_VALIDATION_FAILED
 */
export const register =
  (deps: RegisterDeps) =>
  async (input: RegisterInput, cancellation = NEVER_CANCELLED): Promise<OpenedSession> => {
    const { users, unitOfWork, hasher, clock, ids, emailVerification = 'off' } = deps;
    const { username, email, password, origin = NO_ORIGIN, presented = NOTHING_PRESENTED } = input;
    assertPasswordAllowed(deps, input, 'password');
    const proof = await provenDevice(deps, presented);
    const passwordHash = await hasher.hash(password);
    cancellation.throwIfAborted();
    const now = clock.now();
    const user = newUser({ id: ids.next(), username, email, passwordHash, now });
    const { session, opened } = await prepareSession(deps, {
      user,
      now,
      origin,
      keys: keysOf(proof),
      authentications: [{ method: 'registration', at: now }],
    });
    try {
      await unitOfWork.run(async (stores) => {
        await stores.users.add(user);
        cancellation.throwIfAborted();
        await assertNotReserved(deps, stores, user);
        await storeSession(deps, stores, session, { kind: 'registered', user, origin });
        if (emailVerification === 'off') return;
        await enqueue(deps, stores, origin, [{ kind: 'email-verification', userId: user.id, to: user.email }]);
      });
      cancellation.throwIfAborted();
      return opened;
    } catch (error) {
      if (!isTaken(error)) await removeIfPossible(users, user);
      throw error;
    }
  };

/** Whether the store refused the user: then there is nothing to remove. */
const isTaken = (error: unknown): boolean =>
  error instanceof AppError && (error.code === 'AUTH_USER_DUPLICATE' || error.code === 'DB_UNIQUE_VIOLATION');

/** If the user cannot be removed, the client gets the first error all the same. */
const removeIfPossible = async (users: UserRepository, { id }: User): Promise<void> => {
  await users.remove(id).catch(() => undefined);
};
