import { AppError } from '../../domain/errors/app-error.ts';
import type { Origin } from '../../domain/event.ts';
import type { Session } from '../../domain/session.ts';
import { isIssuedAfter } from '../../domain/tokens.ts';
import type { User } from '../../domain/user.ts';
import { isUsualLogin, notifyOfFailures, notifyOfLogin } from '../notices.ts';
import type { RefreshToken } from '../ports/token-signer.ts';
import type { Service } from '../service.ts';
import { endPresentedSessions } from '../sessions/end-sessions.ts';
import { storeSession } from '../sessions/open-session.ts';
import type { Stores } from '../storage/records.ts';

/** @throws AppError AUTH_ACCOUNT_DISABLED, AUTH_EMAIL_UNVERIFIED */
export const assertMayLogIn = (
  { emailVerification }: Pick<Service, 'emailVerification'>,
  { disabledAt, emailVerifiedAt }: Pick<User, 'disabledAt' | 'emailVerifiedAt'>,
): void => {
  if (disabledAt !== null) throw new AppError('AUTH_ACCOUNT_DISABLED');
  if (emailVerifiedAt === null && emailVerification === 'required') throw new AppError('AUTH_EMAIL_UNVERIFIED');
};

/** Reports a log-in that its client is to blame for, also one that has to wait (429). @param users `null`: there is no such account. */
export const reportRefusal =
  ({ report }: Pick<Service, 'report'>, users: User | null | readonly User[], origin: Origin) =>
  (error: unknown): never => {
    const isOfClient = error instanceof AppError && error.status < 500;
    for (const { id } of isOfClient ? [users ?? []].flat() : []) report?.('login-refused', id, origin);
    throw error;
  };

type Login = {
  readonly user: User;
  readonly session: Session;
  readonly verified: readonly RefreshToken[];
  /** Default: `isOwn`. */
  readonly isOwnDevice?: boolean;
  readonly origin: Origin;
  readonly rememberedDeviceId?: string | null;
};

/** Whether a token is of this user, and of after the last change of the password. */
export const isOwn = (verified: readonly RefreshToken[], user: User): boolean =>
  verified.some(({ claims }) => claims.sub === user.id && isIssuedAfter(claims, user.passwordChangedAt));

/**
 * Stores the session of a log-in, in place of those that the device had, and a notice if the log-in is unusual. The user may have been
 * disabled since the log-in began, which has ended only the sessions that were stored before.
 * @throws AppError AUTH_ACCOUNT_DISABLED, AUTH_EMAIL_UNVERIFIED, AUTH_SECOND_FACTOR_REQUIRED
 */
export const storeLogin = async (
  deps: Service,
  stores: Stores,
  { user, session, verified, isOwnDevice = isOwn(verified, user), origin, rememberedDeviceId = null }: Login,
): Promise<void> => {
  assertMayLogIn(deps, user);
  await endPresentedSessions(deps, stores, { userId: user.id, verified, origin, reason: 'replaced' });
  const isUsual = isOwnDevice || (await isUsualLogin(deps, stores, user, origin));
  await storeSession(deps, stores, session, { kind: 'logged-in', user, origin, rememberedDeviceId });
  if (isUsual) await notifyOfFailures(deps, stores, { user, origin });
  else await notifyOfLogin(deps, stores, { user, sessionId: session.id, origin });
};
