import { accountKind } from '../../domain/account.ts';
import { AppError } from '../../domain/errors/app-error.ts';
import { NO_ORIGIN, type Origin, type SessionEnding } from '../../domain/event.ts';
import type { Session } from '../../domain/session.ts';
import type { ReplayPolicy } from '../../domain/token-standing.ts';
import type { User } from '../../domain/user.ts';
import { NEVER_CANCELLED } from '../cancellation.ts';
import type { Clock } from '../ports/clock.ts';
import type { IdGenerator } from '../ports/id-generator.ts';
import type { LoginAttempts } from '../ports/login-attempts.ts';
import type { PasswordHasher } from '../ports/password-hasher.ts';
import type { SessionRepository } from '../ports/session-repository.ts';
import type { RefreshToken, TokenSigner } from '../ports/token-signer.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import type { UserRepository } from '../ports/user-repository.ts';
import type { Report } from '../reports.ts';
import { genuineTokens } from '../steps/assess-tokens.ts';
import { comparePassword, loginAttempts } from '../steps/compare-password.ts';
import { endPresentedSessions, endSession } from '../steps/end-sessions.ts';
import { isUsualLogin, type NoticeDeps, noticeOfLogin } from '../steps/notices.ts';
import { type OpenedSession, prepareSession, storeSession } from '../steps/open-session.ts';
import { turns } from '../steps/turns.ts';

export type LoginDeps = NoticeDeps & {
  readonly users: UserRepository;
  readonly sessions: SessionRepository;
  readonly unitOfWork: UnitOfWork;
  readonly tokens: TokenSigner;
  readonly hasher: PasswordHasher;
  readonly attempts: LoginAttempts;
  readonly clock: Clock;
  readonly ids: IdGenerator;
  /** Milliseconds. */
  readonly accessLifetime: number;
  /** Milliseconds. */
  readonly refreshLifetime: number;
  readonly replayPolicy: ReplayPolicy;
  /** `required` refuses a user whose address is not proven. Default: off. */
  readonly emailVerification?: 'off' | 'optional' | 'required' | undefined;
  readonly report?: Report;
};

type LoginSource = {
  /** The networks of the client, the widest first. */
  readonly networks: readonly string[];
  /** The refresh tokens of the request. */
  readonly refreshTokens: readonly string[];
};

type LoginInput = {
  /** A username or an email address. */
  readonly account: string;
  readonly password: string;
  readonly source?: LoginSource;
  readonly origin?: Origin;
};

const UNKNOWN_SOURCE: LoginSource = { networks: ['unknown'], refreshTokens: [] };

/**
 * Opens a session for a user who knows the password, and ends those whose tokens the device presents, since its browser forgets them. A
 * password is compared for an unknown account too, and presented tokens are verified, so that the response time does not show whether the
 * account exists.
 * @throws AppError AUTH_CREDENTIALS_INVALID, AUTH_ACCOUNT_DISABLED, AUTH_EMAIL_UNVERIFIED, CLIENT_REQUEST_RATE_LIMIT_EXCEEDED
 */
export const login = (deps: LoginDeps) => {
  const inTurnOf = turns();
  return async (input: LoginInput, cancellation = NEVER_CANCELLED): Promise<OpenedSession> => {
    const { password, source = UNKNOWN_SOURCE, origin = NO_ORIGIN } = input;
    const genuine = await genuineTokens(deps, source.refreshTokens);
    const found = await findByAccount(deps, input.account);
    const { user, isOwnDevice } = await assertMayLogIn(deps, found, input, {
      networks: source.networks,
      genuine,
    }).catch((error: unknown) => {
      if (found !== null && isRefusal(error)) deps.report?.('login-refused', found.id, origin);
      throw error;
    });

    cancellation.throwIfAborted();
    const current = await rehashIfNeeded(deps, user, password);
    cancellation.throwIfAborted();
    const { session, opened } = await prepareSession(deps, current, deps.clock.now(), origin);
    // Those of one user wait for each other: here, so that they do not wait with a connection to the database each (ADR 0045).
    const opening = inTurnOf(user.id, () => {
      cancellation.throwIfAborted();
      return store(deps, { user, session, isOwnDevice, genuine, origin });
    });
    await opening.catch(async (error: unknown) => {
      // The storage refuses the log-in of a user who was deleted meanwhile.
      throw (await isDeleted(deps, user)) ? wrongSince('the user was deleted') : error;
    });
    const refusal = await refusalSince(deps, current, password);
    if (refusal === null) return opened;
    const { reason, error } = refusal;
    // The session of a user who was deleted is gone with them.
    if (reason !== null) await deps.unitOfWork.run((stores) => endSession(deps, stores, session, { reason, origin }));
    throw error;
  };
};

type LogIn = Admitted & {
  readonly session: Session;
  /** The genuine refresh tokens of the request. */
  readonly genuine: readonly RefreshToken[];
  readonly origin: Origin;
};

/** Stores the session of a log-in in place of those that the device has, and what is told of it. */
const store = (deps: LoginDeps, { user, session, isOwnDevice, genuine, origin }: LogIn): Promise<void> =>
  deps.unitOfWork.run(async (stores) => {
    // Locks the user: otherwise log-ins overlap, and a change of the user waits for as long as further ones come (ADR 0045).
    await endPresentedSessions(deps, stores, { userId: user.id, genuine, origin, reason: 'replaced' });
    const isUsual = isOwnDevice || (await isUsualLogin(deps, stores, user, origin));
    await storeSession(deps, stores, session, { kind: 'logged-in', origin });
    if (!isUsual) await noticeOfLogin(deps, stores, { user, sessionId: session.id, origin });
  });

/** @returns false as well when the store does not respond. */
const isDeleted = ({ users }: LoginDeps, { id }: User): Promise<boolean> =>
  users.findById(id).then(
    (stored) => stored === null,
    () => false,
  );

const wrongSince = (what: string): AppError =>
  new AppError('AUTH_CREDENTIALS_INVALID', { reason: `${what} during the log-in` });

type Admitted = {
  readonly user: User;
  /** Whether the device presents a refresh token of the user. */
  readonly isOwnDevice: boolean;
};

const assertMayLogIn = async (
  deps: LoginDeps,
  user: User | null,
  { account, password }: LoginInput,
  source: Parameters<typeof loginAttempts>[2],
): Promise<Admitted> => {
  const candidates = loginAttempts(account, user, source);
  const matches = await comparePassword(deps, candidates, password, user?.passwordHash ?? null);
  if (user === null || !matches) throw new AppError('AUTH_CREDENTIALS_INVALID');
  if (user.disabledAt !== null) throw new AppError('AUTH_ACCOUNT_DISABLED');
  const isUnproven = user.emailVerifiedAt === null;
  if (isUnproven && deps.emailVerification === 'required') throw new AppError('AUTH_EMAIL_UNVERIFIED');
  return { user, isOwnDevice: candidates.some(({ party }) => party.kind === 'device') };
};

/** Whether the client is at fault. A wrong password that had to wait counts, too: it is an attempt that failed. */
const isRefusal = (error: unknown): boolean => error instanceof AppError && error.status < 500;

const findByAccount = ({ users }: LoginDeps, account: string): Promise<User | null> =>
  accountKind(account) === 'email' ? users.findByEmail(account) : users.findByUsername(account);

type Refusal = {
  /** Why the session ends; `null` when there is no user any more. */
  readonly reason: SessionEnding | null;
  readonly error: AppError;
};

/**
 * Why the log-in would be refused now; `null` when it would not. Checked after the session is stored: a change of the password or an
 * operator who disables the account ends the user's sessions, but not one that is stored after that.
 */
const refusalSince = async (
  { users, hasher }: LoginDeps,
  { id, passwordHash }: User,
  password: string,
): Promise<Refusal | null> => {
  const stored = await users.findById(id);
  if (stored === null) return { reason: null, error: wrongSince('the user was deleted') };
  if (stored.disabledAt !== null) return { reason: 'operator', error: new AppError('AUTH_ACCOUNT_DISABLED') };
  const isPassword = stored.passwordHash === passwordHash || (await hasher.verify(password, stored.passwordHash));
  if (isPassword) return null;
  return { reason: 'password-changed', error: wrongSince('the password was changed') };
};

/**
 * Replaces a hash that was made at a lower cost than is configured now. If the password was changed in the meantime, or
 * rehashing fails, the stored hash stays as it is. Never rejects.
 * @param password which has been verified against the user's hash.
 * @returns the user as stored now.
 */
const rehashIfNeeded = async (
  { users, hasher, clock, report }: LoginDeps,
  user: User,
  password: string,
): Promise<User> => {
  if (!hasher.needsRehash(user.passwordHash)) return user;
  try {
    const passwordHash = await hasher.hash(password);
    const updatedAt = clock.now();
    const changed = await users.setPasswordHash(user.id, {
      passwordHash,
      isOfNewPassword: false,
      now: updatedAt,
      replaces: user.passwordHash,
    });
    return changed ? { ...user, passwordHash, updatedAt } : user;
  } catch (error) {
    report?.('rehash-failed', error);
    return user;
  }
};
