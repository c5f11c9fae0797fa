import { AppError } from '../../domain/errors/app-error.ts';
import type { Origin } from '../../domain/event.ts';
import type { Session } from '../../domain/session.ts';
import type { User } from '../../domain/user.ts';
import type { RefreshToken } from '../ports/token-signer.ts';
import type { Stores } from '../ports/unit-of-work.ts';
import { type EndPresentedDeps, endPresentedSessions } from './end-sessions.ts';
import { type SecondFactorPolicy, storeSession } from './open-session.ts';
import { isUsualLogin, notifyOfLogin } from './record.ts';

export type MayLogInDeps = {
  /** `required` refuses a user whose address is not verified. Default: off. */
  readonly emailVerification?: 'off' | 'optional' | 'required' | undefined;
};

/** @throws AppError AUTH_ACCOUNT_DISABLED, AUTH_EMAIL_UNVERIFIED */
export const assertMayLogIn = (
  { emailVerification }: MayLogInDeps,
  { disabledAt, emailVerifiedAt }: Pick<User, 'disabledAt' | 'emailVerifiedAt'>,
): void => {
  if (disabledAt !== null) throw new AppError('AUTH_ACCOUNT_DISABLED');
  if (emailVerifiedAt === null && emailVerification === 'required') throw new AppError('AUTH_EMAIL_UNVERIFIED');
};

type Login = {
  /** As stored in this unit of work, which has locked the user. */
  readonly user: User;
  readonly session: Session;
  /** The verified refresh tokens of the request. */
  readonly verified: readonly RefreshToken[];
  /** Whether the device presents a refresh token of the user. */
  readonly isOwnDevice: boolean;
  readonly origin: Origin;
  /** `null`: the device is not remembered. */
  readonly rememberedDeviceId?: string | null;
};

/**
 * Stores the session of a log-in, in place of those that the device had, and a notice if the log-in is unusual.
 * @throws AppError AUTH_SECOND_FACTOR_REQUIRED
 */
export const storeLogin = async (
  deps: EndPresentedDeps & SecondFactorPolicy,
  stores: Stores,
  { user, session, verified, isOwnDevice, origin, rememberedDeviceId = null }: Login,
): Promise<void> => {
  await endPresentedSessions(deps, stores, { userId: user.id, verified, origin, reason: 'replaced' });
  const isUsual = isOwnDevice || (await isUsualLogin(deps, stores, user, origin));
  await storeSession(deps, stores, session, { kind: 'logged-in', user, origin, rememberedDeviceId });
  if (!isUsual) await notifyOfLogin(deps, stores, { user, sessionId: session.id, origin });
};
