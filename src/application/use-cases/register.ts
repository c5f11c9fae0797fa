import type { Device } from '../../domain/device.ts';
import { newUser } from '../../domain/user.ts';
import { NEVER_CANCELLED } from '../cancellation.ts';
import type { Clock } from '../ports/clock.ts';
import type { IdGenerator } from '../ports/id-generator.ts';
import type { PasswordBlocklist } from '../ports/password-blocklist.ts';
import type { PasswordHasher } from '../ports/password-hasher.ts';
import type { SessionRepository } from '../ports/session-repository.ts';
import type { TokenSigner } from '../ports/token-signer.ts';
import type { UserRepository } from '../ports/user-repository.ts';
import { assertPasswordAllowed } from '../steps/assert-password-allowed.ts';
import { type OpenedSession, openSession } from '../steps/open-session.ts';

export type RegisterDeps = {
  readonly users: UserRepository;
  readonly sessions: SessionRepository;
  readonly tokens: TokenSigner;
  readonly hasher: PasswordHasher;
  /** `null`: common passwords are allowed. */
  readonly blocklist: PasswordBlocklist | null;
  readonly clock: Clock;
  readonly ids: IdGenerator;
  /** Milliseconds. */
  readonly accessLifetime: number;
  /** Milliseconds. */
  readonly refreshLifetime: number;
};

/** Validated against the limits of the domain. */
type RegisterInput = {
  readonly username: string;
  readonly email: string;
  readonly password: string;
  readonly device?: Device;
};

/**
 * Registers a user and logs the user in.
 * @throws AppError AUTH_USER_DUPLICATE, CLIENT_PARAMS_VALIDATION_FAILED
 */
export const register =
  (deps: RegisterDeps) =>
  async (input: RegisterInput, cancellation = NEVER_CANCELLED): Promise<OpenedSession> => {
    const { users, hasher, clock, ids } = deps;
    const { username, email, password, device } = input;
    assertPasswordAllowed(deps, input, 'password');
    const passwordHash = await hasher.hash(password);
    cancellation.throwIfAborted();
    const now = clock.now();
    const user = newUser({ id: ids.next(), username, email, passwordHash, now });
    await users.add(user);
    return openSession(deps, user, now, device);
  };
