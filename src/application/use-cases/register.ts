import type { Device } from '../../domain/device.ts';
import { newUser } from '../../domain/user.ts';
import { NEVER_CANCELLED } from '../cancellation.ts';
import type { Clock } from '../ports/clock.ts';
import type { PasswordHasher } from '../ports/password-hasher.ts';
import type { UserRepository } from '../ports/user-repository.ts';
import { type AssertPasswordAllowedDeps, assertPasswordAllowed } from '../steps/assert-password-allowed.ts';
import { type OpenedSession, type OpenSessionDeps, openSession } from '../steps/open-session.ts';

export type RegisterDeps = OpenSessionDeps &
  AssertPasswordAllowedDeps & {
    readonly users: UserRepository;
    readonly hasher: PasswordHasher;
    readonly clock: Clock;
  };

/**
 * Registers a user and logs the user in. The input has been held against the limits of the domain already.
 * @throws AppError AUTH_USER_DUPLICATE, CLIENT_PARAMS_VALIDATION_FAILED
 */
export const register = (deps: RegisterDeps) => {
  const { users, hasher, clock, ids } = deps;
  const open = openSession(deps);
  const judge = assertPasswordAllowed(deps);
  return async (
    input: { username: string; email: string; password: string; device?: Device },
    cancellation = NEVER_CANCELLED,
  ): Promise<OpenedSession> => {
    judge(input.password, input);
    const passwordHash = await hasher.hash(input.password);
    cancellation.throwIfAborted();
    const now = clock.now();
    const user = newUser({ id: ids.next(), username: input.username, email: input.email, passwordHash, now });
    await users.add(user);
    return open(user, now, input.device);
  };
};
