import type { Authenticated, Authentications } from '../../domain/assurance.ts';
import type { DeviceKeys } from '../../domain/device.ts';
import { AppError } from '../../domain/errors/app-error.ts';
import { NO_ORIGIN, type Origin } from '../../domain/event.ts';
import type { User } from '../../domain/user.ts';
import { isUsualLogin, notifyOfFailures, notifyOfLogin } from '../notices.ts';
import type { RefreshToken } from '../ports/token-signer.ts';
import type { Cancellation, Service } from '../service.ts';
import { endPresentedSessions } from '../sessions/end-sessions.ts';
import {
  type OpenedSession,
  type PreparedSession,
  prepareSession,
  storeAtOnce,
  storeSession,
} from '../sessions/open-session.ts';
import { type ClientContext, NOTHING_PRESENTED, provenKeys } from '../sessions/prove-device.ts';
import { verifiedTokens } from '../sessions/tokens.ts';
import type { Stores } from '../storage/records.ts';
import { assertSamePassword, tokenOfUser } from './compare-password.ts';

export const assertMayLogIn = (
  { emailVerification }: Pick<Service, 'emailVerification'>,
  { disabledAt, emailVerifiedAt }: Pick<User, 'disabledAt' | 'emailVerifiedAt'>,
): void => {
  if (disabledAt !== null) throw new AppError('AUTH_ACCOUNT_DISABLED');
  if (emailVerifiedAt === null && emailVerification === 'required') throw new AppError('AUTH_EMAIL_UNVERIFIED');
};

/** Reports a refusal whose cause is the client (4xx). @param users whose log-in it was; `null`: there is no such account. */
export const reportRefusal =
  ({ report }: Pick<Service, 'report'>, users: User | null | readonly User[], origin: Origin) =>
  (error: unknown): never => {
    const isOfClient = error instanceof AppError && error.status < 500;
    for (const { id } of isOfClient ? [users ?? []].flat() : []) report?.('login-refused', id, origin);
    throw error;
  };

/** The client of a log-in: the keys that it proves, and its refresh tokens. */
export type LoginClient = {
  readonly origin: Origin;
  readonly keys: DeviceKeys;
  readonly verified: readonly RefreshToken[];
};

export const loginClient = async (
  deps: Service,
  { origin = NO_ORIGIN, presented = NOTHING_PRESENTED, refreshTokens = [] }: ClientContext,
): Promise<LoginClient> => ({
  origin,
  keys: await provenKeys(deps, presented),
  verified: await verifiedTokens(deps, refreshTokens),
});

type Login = {
  /** The user as they will be when the session is stored. */
  readonly user: User;
  /** The authentications of this request, or those of another session. */
  readonly authentications: Authentications | Authenticated;
  readonly id?: string;
  readonly cancellation: Cancellation;
};

type StoreOptions = {
  /** `true`: the log-in needs no notice of a new device. Default: whether the device has a refresh token of the user that is newer than the password. */
  readonly isKnownDevice?: boolean;
  /** The remembered device that replaces the second factor. */
  readonly rememberedDeviceId?: string | null;
};

/**
 * Opens the session of a log-in. Its tokens are signed before the transaction.
 * @param work locks the user, uses up what was presented, and may store the session by `store`.
 */
export const openLogin = async <Result>(
  deps: Service,
  client: LoginClient,
  login: Login,
  work: (stores: Stores, store: (user: User, options?: StoreOptions) => Promise<OpenedSession>) => Promise<Result>,
): Promise<Result> => {
  const prepared = await prepareLogin(deps, client, login);
  return deps.transactions.run((stores) =>
    work(stores, (user, options) => storeLogin(deps, stores, client, prepared, user, options)),
  );
};

const prepareLogin = async (deps: Service, { origin, keys }: LoginClient, { cancellation, ...login }: Login) => {
  assertMayLogIn(deps, login.user);
  const prepared = await prepareSession(deps, { ...login, origin, keys });
  cancellation.throwIfAborted();
  return prepared;
};

/** Opens the session of a log-in by password, in one statement where possible. @param inTurn makes the log-ins of a user store their sessions in turn. */
export const openPasswordLogin = async (
  deps: Service,
  client: LoginClient,
  login: Login,
  rememberedDeviceId: string | null,
  inTurn: <Result>(work: () => Promise<Result>) => Promise<Result>,
): Promise<OpenedSession> => {
  const { user: compared } = login;
  const prepared = await prepareLogin(deps, client, login);
  return inTurn(async () => {
    const isPlain = rememberedDeviceId === null && !client.verified.some(({ claims }) => claims.sub === compared.id);
    if (isPlain && (await storeAtOnce(deps, prepared.session, { user: compared, origin: client.origin })))
      return prepared.opened;
    return deps.transactions.run(async (stores) => {
      // The password is checked again under the lock, since a change of the password has ended only the sessions that were stored before.
      const user = await stores.users.lock(compared.id);
      if (user === null) throw new AppError('AUTH_CREDENTIALS_INVALID', { reason: 'the user was deleted' });
      assertSamePassword(compared, user);
      return storeLogin(deps, stores, client, prepared, user, { rememberedDeviceId });
    });
  });
};

/** Stores the session in place of those whose tokens the device presents, and a notice if the log-in needs one. */
const storeLogin = async (
  deps: Service,
  stores: Stores,
  { verified, origin }: LoginClient,
  { session, opened }: PreparedSession,
  user: User,
  { isKnownDevice = tokenOfUser(verified, user) !== undefined, rememberedDeviceId = null }: StoreOptions = {},
): Promise<OpenedSession> => {
  // The account is checked again, since an operator who disables it ends only the sessions that were stored before.
  assertMayLogIn(deps, user);
  if (verified.length > 0)
    await endPresentedSessions(deps, stores, { userId: user.id, verified, origin, reason: 'replaced' });
  const isUsual = isKnownDevice || (await isUsualLogin(deps, stores, user, origin));
  await storeSession(deps, stores, session, { kind: 'logged-in', user, origin, rememberedDeviceId });
  if (isUsual) await notifyOfFailures(deps, stores, { user, origin });
  else await notifyOfLogin(deps, stores, { user, sessionId: session.id, origin });
  return opened;
};
