import { accountKind } from '../../domain/account.ts';
import { AppError } from '../../domain/errors/app-error.ts';
import { NEVER_CANCELLED } from '../cancellation.ts';
import { type OpenedSession, type OpenSessionDeps, openSession } from '../open-session.ts';
import type { Clock } from '../ports/clock.ts';
import type { PasswordHasher } from '../ports/password-hasher.ts';
import type { UserRepository } from '../ports/user-repository.ts';

export type LoginDeps = OpenSessionDeps & {
  readonly users: UserRepository;
  readonly hasher: PasswordHasher;
  readonly clock: Clock;
};

/**
 * Opens a session for whoever knows the password. An unknown account costs a comparison too, so that the time tells nothing.
 * @throws AppError AUTH_CREDENTIALS_INVALID
 */
export const login = (deps: LoginDeps) => {
  const { users, hasher, clock } = deps;
  const open = openSession(deps);
  const find = (account: string) =>
    accountKind(account) === 'email' ? users.findByEmail(account) : users.findByUsername(account);
  return async (
    input: { account: string; password: string },
    cancellation = NEVER_CANCELLED,
  ): Promise<OpenedSession> => {
    const user = await find(input.account);
    const matches = await hasher.verify(input.password, user?.passwordHash ?? null);
    if (user === null || !matches) throw new AppError('AUTH_CREDENTIALS_INVALID');
    cancellation.throwIfAborted();
    return open(user, clock.now());
  };
};
