import { accountKind } from '../../domain/account.ts';
import type { Device } from '../../domain/device.ts';
import { AppError } from '../../domain/errors/app-error.ts';
import type { User } from '../../domain/user.ts';
import { NEVER_CANCELLED } from '../cancellation.ts';
import { type ComparePasswordDeps, comparePassword } from '../steps/compare-password.ts';
import { type LoginAttemptDeps, type LoginSource, loginAttempts } from '../steps/login-attempt.ts';
import { type OpenedSession, type OpenSessionDeps, openSession } from '../steps/open-session.ts';
import { type RehashDeps, rehashIfNeeded } from '../steps/rehash-if-needed.ts';

export type LoginDeps = OpenSessionDeps & LoginAttemptDeps & ComparePasswordDeps & RehashDeps;

const UNKNOWN_SOURCE: LoginSource = { networks: ['unknown'], refreshTokens: [] };

/**
 * Opens a session for whoever knows the password. An unknown account costs a comparison too, so that the time tells nothing.
 * @throws AppError AUTH_CREDENTIALS_INVALID, CLIENT_REQUEST_RATE_LIMIT_EXCEEDED
 */
export const login = (deps: LoginDeps) => {
  const { users, clock } = deps;
  const open = openSession(deps);
  const candidates = loginAttempts(deps);
  const compare = comparePassword(deps);
  const maintain = rehashIfNeeded(deps);
  const confirm = confirmation(deps);
  const find = (account: string) =>
    accountKind(account) === 'email' ? users.findByEmail(account) : users.findByUsername(account);
  return async (
    input: { account: string; password: string; source?: LoginSource; device?: Device },
    cancellation = NEVER_CANCELLED,
  ): Promise<OpenedSession> => {
    const user = await find(input.account);
    const attempts = await candidates(input.account, user, input.source ?? UNKNOWN_SOURCE);
    const matches = await compare(attempts, input.password, user?.passwordHash ?? null);
    if (user === null || !matches) throw new AppError('AUTH_CREDENTIALS_INVALID');
    cancellation.throwIfAborted();
    const maintained = await maintain(user, input.password);
    cancellation.throwIfAborted();
    const opened = await open(maintained, clock.now(), input.device);
    await confirm(opened, maintained, input.password);
    return opened;
  };
};

/**
 * Looks again once the session is stored: a password that was changed since it was compared has had the user's sessions ended
 * without this one (change-password.ts).
 */
const confirmation =
  ({ users, sessions, hasher }: LoginDeps) =>
  async ({ sessionId }: OpenedSession, { id, passwordHash }: User, password: string): Promise<void> => {
    const stored = await users.findById(id);
    if (stored?.passwordHash === passwordHash) return;
    if (stored !== null && (await hasher.verify(password, stored.passwordHash))) return;
    await sessions.end({ id: sessionId, userId: id });
    throw new AppError('AUTH_CREDENTIALS_INVALID', { reason: 'the password was changed meanwhile' });
  };
