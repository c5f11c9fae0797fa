import { accountKind } from '../../domain/account.ts';
import type { Device } from '../../domain/device.ts';
import { AppError } from '../../domain/errors/app-error.ts';
import type { User } from '../../domain/user.ts';
import { NEVER_CANCELLED } from '../cancellation.ts';
import type { Clock } from '../ports/clock.ts';
import type { IdGenerator } from '../ports/id-generator.ts';
import type { LoginAttempts } from '../ports/login-attempts.ts';
import type { PasswordHasher } from '../ports/password-hasher.ts';
import type { SessionRepository } from '../ports/session-repository.ts';
import type { TokenSigner } from '../ports/token-signer.ts';
import type { UserRepository } from '../ports/user-repository.ts';
import { comparePassword } from '../steps/compare-password.ts';
import { type LoginSource, loginAttempts } from '../steps/login-attempt.ts';
import { type OpenedSession, openSession } from '../steps/open-session.ts';
import { rehashIfNeeded } from '../steps/rehash-if-needed.ts';

export type LoginDeps = {
  readonly users: UserRepository;
  readonly sessions: SessionRepository;
  readonly tokens: TokenSigner;
  readonly hasher: PasswordHasher;
  readonly attempts: LoginAttempts;
  readonly clock: Clock;
  readonly ids: IdGenerator;
  /** Milliseconds. */
  readonly accessLifetime: number;
  /** Milliseconds. */
  readonly refreshLifetime: number;
  /** Called with the error when an outdated hash could not be replaced; the log-in succeeds all the same. */
  readonly onRehashFailed?: ((error: unknown) => void) | undefined;
};

type LoginInput = {
  /** A username or an email address. */
  readonly account: string;
  readonly password: string;
  readonly source?: LoginSource;
  readonly device?: Device;
};

const UNKNOWN_SOURCE: LoginSource = { networks: ['unknown'], refreshTokens: [] };

/**
 * Opens a session for a user who knows the password. A password is compared for an unknown account too, so that the response
 * time does not show whether the account exists.
 * @throws AppError AUTH_CREDENTIALS_INVALID, CLIENT_REQUEST_RATE_LIMIT_EXCEEDED
 */
export const login =
  (deps: LoginDeps) =>
  async (input: LoginInput, cancellation = NEVER_CANCELLED): Promise<OpenedSession> => {
    const { account, password, source = UNKNOWN_SOURCE, device } = input;
    const user = await findByAccount(deps, account);
    const candidates = await loginAttempts(deps, account, user, source);
    const matches = await comparePassword(deps, candidates, password, user?.passwordHash ?? null);
    if (user === null || !matches) throw new AppError('AUTH_CREDENTIALS_INVALID');

    cancellation.throwIfAborted();
    const current = await rehashIfNeeded(deps, user, password);
    cancellation.throwIfAborted();
    const opened = await openSession(deps, current, deps.clock.now(), device);
    if (!(await isStillPassword(deps, current, password))) {
      await deps.sessions.end({ id: opened.sessionId, userId: user.id });
      throw new AppError('AUTH_CREDENTIALS_INVALID', { reason: 'the password was changed during the log-in' });
    }
    return opened;
  };

const findByAccount = ({ users }: LoginDeps, account: string): Promise<User | null> =>
  accountKind(account) === 'email' ? users.findByEmail(account) : users.findByUsername(account);

/**
 * Checked after the session is stored: a password change ends the user's sessions (change-password.ts), but not one that is
 * stored after that.
 */
const isStillPassword = async (
  { users, hasher }: LoginDeps,
  { id, passwordHash }: User,
  password: string,
): Promise<boolean> => {
  const stored = await users.findById(id);
  if (stored === null) return false;
  return stored.passwordHash === passwordHash || hasher.verify(password, stored.passwordHash);
};
