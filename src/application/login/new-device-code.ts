import { AppError } from '../../domain/errors/app-error.ts';
import type { Origin } from '../../domain/event.ts';
import { canonicalAccount, type User } from '../../domain/user.ts';
import { useCodes } from '../login-code.ts';
import type { Cancellation, Service } from '../service.ts';
import { rememberDevice } from '../sessions/end-sessions.ts';
import type { OpenedSession } from '../sessions/open-session.ts';
import type { ClientContext } from '../sessions/prove-device.ts';
import { type AskedCodes, askForCode, guessCode, unsealCodes } from './asked-code.ts';
import { loginAttempts } from './compare-password.ts';
import { loginClient, openLogin } from './open-login.ts';
import { invalidSecondFactor } from './pending-login.ts';

/** A hash of the fields of a user that must not change between the password and the code. */
const accountState = ({ secrets }: Service, user: User): string =>
  secrets.hashOf([user.id, user.email, user.passwordChangedAt, user.emailVerifiedAt, user.secondFactorAt].join(' '));

type PasswordLogin = {
  readonly account: string;
  readonly origin: Origin;
  /** The texts of requested codes (`sealCodes`) that the browser presents. */
  readonly pendingLogins: readonly string[];
};

/**
 * Requests a code by mail after the password. After a wrong password, no mail is sent.
 * @param user `null` after a wrong password.
 * @returns a text for the cookie of `finishLogin`.
 */
export const askForDeviceCode = (
  deps: Service,
  { account, origin, pendingLogins }: PasswordLogin,
  user: User | null,
): Promise<string> =>
  askForCode(deps, {
    ...{ kind: 'new-device-code', account: canonicalAccount(account), origin, isPasswordRight: user !== null },
    passwordShown: user === null ? deps.secrets.random() : accountState(deps, user),
    before: unsealCodes(deps, pendingLogins, 'new-device-code'),
  });

/** Opens the session of a user who has presented the password and the code of a mail, and remembers the device. */
export const finishWithCode = async (
  deps: Service,
  asked: AskedCodes | null,
  mailCode: string,
  input: ClientContext,
  cancellation: Cancellation,
): Promise<{ readonly opened: OpenedSession; readonly rememberedDevice: string }> => {
  const { rememberedDevices: texts = [], networks } = input;
  const client = await loginClient(deps, input);
  const { origin } = client;
  if (asked === null) throw invalidSecondFactor('no log-in waits for a code, or it has expired');
  const { code, owner: user } = await guessCode(deps, asked, mailCode, origin).catch(rethrowAsSecondFactor);
  const authentications = [
    { method: 'password', at: code.askedAt },
    { method: 'mail-code', at: deps.clock.now() },
  ] as const;
  const finished = await openLogin(deps, client, { user, authentications, cancellation }, async (stores, store) => {
    const locked = await stores.users.lock(user.id);
    if (locked === null || accountState(deps, locked) !== code.passwordShown)
      throw invalidSecondFactor('the password was wrong, or the account has changed since');
    await useCodes(stores, asked, code).catch(rethrowAsSecondFactor);
    const opened = await store(locked);
    return { opened, rememberedDevice: await rememberDevice(deps, stores, { user: locked, texts, origin }) };
  });
  for (const attempt of loginAttempts(code.account, user, { networks })) await deps.attempts.succeed(attempt);
  return finished;
};

const rethrowAsSecondFactor = (error: unknown): never => {
  const isWrong = error instanceof AppError && error.code === 'AUTH_CODE_INVALID';
  throw isWrong ? invalidSecondFactor(error.reason ?? '') : error;
};
