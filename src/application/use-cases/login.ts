import { accountKind } from '../../domain/account.ts';
import { AppError } from '../../domain/errors/app-error.ts';
import type { Device } from '../../domain/session.ts';
import { NEVER_CANCELLED } from '../cancellation.ts';
import { type LoginAdmissionDeps, loginAdmission, type Origin } from '../login-admission.ts';
import { type OpenedSession, type OpenSessionDeps, openSession } from '../open-session.ts';
import { type PasswordUpkeepDeps, passwordUpkeep } from '../password-upkeep.ts';

export type LoginDeps = OpenSessionDeps & LoginAdmissionDeps & PasswordUpkeepDeps;

const FROM_SOMEWHERE: Origin = { network: 'unknown', refreshTokens: [] };

/**
 * Opens a session for whoever knows the password. An unknown account costs a comparison too, so that the time tells nothing.
 * @throws AppError AUTH_CREDENTIALS_INVALID, CLIENT_REQUEST_RATE_LIMIT_EXCEEDED
 */
export const login = (deps: LoginDeps) => {
  const { users, hasher, attempts, clock } = deps;
  const open = openSession(deps);
  const admit = loginAdmission(deps);
  const maintain = passwordUpkeep(deps);
  const find = (account: string) =>
    accountKind(account) === 'email' ? users.findByEmail(account) : users.findByUsername(account);
  return async (
    input: { account: string; password: string; origin?: Origin; device?: Device },
    cancellation = NEVER_CANCELLED,
  ): Promise<OpenedSession> => {
    const user = await find(input.account);
    const attempt = await admit(input.account, user, input.origin ?? FROM_SOMEWHERE);
    const matches = await hasher.verify(input.password, user?.passwordHash ?? null).catch(async (error: unknown) => {
      await attempts.withdraw(attempt);
      throw error;
    });
    if (user === null || !matches) throw new AppError('AUTH_CREDENTIALS_INVALID');
    await attempts.succeed(attempt);
    cancellation.throwIfAborted();
    const maintained = await maintain(user, input.password);
    cancellation.throwIfAborted();
    return open(maintained, clock.now(), input.device);
  };
};
