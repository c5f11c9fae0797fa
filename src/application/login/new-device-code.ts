import { needsSecondFactor } from '../../domain/assurance.ts';
import type { DeviceKeys } from '../../domain/device-binding.ts';
import { AppError } from '../../domain/errors/app-error.ts';
import type { Origin } from '../../domain/event.ts';
import { newMessage } from '../../domain/message.ts';
import { isKnown } from '../../domain/remembered-device.ts';
import { canonicalAccount, isAccountName, type User } from '../../domain/user.ts';
import { type AskedLogin, seal, unseal, useCodes } from '../login-code.ts';
import type { RefreshToken } from '../ports/token-signer.ts';
import type { Cancellation, Service } from '../service.ts';
import { rememberDevice, rememberedDeviceId } from '../sessions/end-sessions.ts';
import { type OpenedSession, prepareSession } from '../sessions/open-session.ts';
import { type Presented, provenKeys } from '../sessions/prove-device.ts';
import { verifiedTokens } from '../sessions/tokens.ts';
import { addMessages, messagesOf } from '../storage/outbox.ts';
import { loginAttempts } from './compare-password.ts';
import { guess } from './guess-code.ts';
import { invalidSecondFactor } from './pending-login.ts';
import { assertMayLogIn, isOwn, storeLogin } from './store-login.ts';

/** A code by mail beside the password, on a new device (ADR 0008). Whoever guesses passwords there gets the same answer to right and wrong ones. */

type LoginDevice = {
  readonly keys: DeviceKeys;
  readonly verified: readonly RefreshToken[];
  readonly rememberedDevices: readonly string[];
};

/** `ofWrong`: a wrong password is answered as a right one that needs a code. `ofRight`: that one needs it. */
type Needed = { readonly ofWrong: boolean; readonly ofRight: boolean };

/** As many statements for an account that does not exist. Nobody gets a code where all need a second factor. */
export const codeNeeded = async (deps: Service, user: User | null, device: LoginDevice): Promise<Needed> => {
  const { newDeviceCode = 'off', secondFactor } = deps;
  if (newDeviceCode === 'off' || secondFactor === 'required') return { ofWrong: false, ofRight: false };
  if (await isKnownDevice(deps, user, device)) return { ofWrong: false, ofRight: false };
  const isLate = newDeviceCode === 'while-mail-works' && (await isMailLate(deps, user));
  const isAsked = user !== null && user.emailVerifiedAt !== null && !needsSecondFactor(deps, user);
  return { ofWrong: true, ofRight: isAsked && !isLate };
};

const isKnownDevice = async (
  deps: Service,
  user: User | null,
  { keys: { deviceKey }, verified, rememberedDevices }: LoginDevice,
): Promise<boolean> => {
  const live = deviceKey === null ? [] : await deps.sessions.listByUser(user?.id ?? '', deps.clock.now());
  if (user === null) return false;
  if (isOwn(verified, user) || live.some((session) => session.deviceKey === deviceKey)) return true;
  return (await rememberedDeviceId(deps, user, rememberedDevices, isKnown)) !== null;
};

/** Milliseconds. */
const LATE = 5 * 60_000;

/** Whether mail to the user does not get out. Mail to others says nothing: anybody could name an address that no server takes mail for. */
const isMailLate = async ({ records, clock }: Service, user: User | null): Promise<boolean> => {
  const latest = clock.now() - LATE;
  const isLate = ({ kind, createdAt }: { kind: string; createdAt: number }) =>
    kind === 'new-device-code' && createdAt <= latest;
  return (await messagesOf(records, user?.id ?? '')).some(isLate);
};

/** What the password was compared with: the account as it was then. */
const shownBy = (
  { secrets }: Pick<Service, 'secrets'>,
  { id, email, passwordChangedAt, emailVerifiedAt, secondFactorAt }: User,
): string => secrets.hashOf([id, email, passwordChangedAt, emailVerifiedAt, secondFactorAt].join(' '));

type Asking = {
  readonly account: string;
  readonly origin: Origin;
  /** As the browser presents them. */
  readonly pendingLogins: readonly string[];
};

/**
 * Asks for a code. After a wrong password, too: as much is stored, and no mail is sent.
 * @param user who has shown the password; `null`: it was wrong.
 * @returns a text for the cookie of `finishLogin`.
 */
export const askForCode = async (
  deps: Service,
  { account: typed, origin, pendingLogins }: Asking,
  user: User | null,
): Promise<string> => {
  const [account, now] = [canonicalAccount(typed), deps.clock.now()];
  const passwordShown = user === null ? deps.secrets.random() : shownBy(deps, user);
  const code = { id: deps.ids.next(), askedAt: now, account, passwordShown };
  const request = { kind: 'new-device-code-request', userId: null, to: account, wasVerified: user !== null } as const;
  if (isAccountName(account)) await addMessages(deps, [newMessage(request, { id: code.id, at: now, origin })]);
  const before = askedBy(deps, pendingLogins)?.codes ?? [];
  return seal(deps, { codes: [code, ...before] }, 'new-device-codes');
};

/** What a browser has asked for by passwords; `null`: nothing, or it has expired. */
export const askedBy = (
  deps: Pick<Service, 'secrets' | 'clock'>,
  pendingLogins: readonly string[],
): AskedLogin | null => unseal(deps, pendingLogins, 'new-device-codes');

type Finishing = {
  readonly mailCode: string;
  readonly rememberedDevices: readonly string[];
  readonly refreshTokens: readonly string[];
  readonly networks: readonly string[];
  readonly origin: Origin;
  readonly presented: Presented;
};

/**
 * Opens the session of a user who has shown the password, and the code of a mail; and remembers the device.
 * @throws AppError AUTH_ACCOUNT_DISABLED, AUTH_DEVICE_UNPROVEN, AUTH_PROOF_EXPIRED, AUTH_SECOND_FACTOR_INVALID
 */
export const finishWithCode = async (
  deps: Service,
  asked: AskedLogin | null,
  { mailCode, rememberedDevices: texts, refreshTokens, networks, origin, presented }: Finishing,
  cancellation: Cancellation,
): Promise<{ readonly opened: OpenedSession; readonly rememberedDevice: string }> => {
  const keys = await provenKeys(deps, presented);
  const verified = await verifiedTokens(deps, refreshTokens);
  if (asked === null) throw invalidSecondFactor('no log-in waits for a code, or it has expired');
  const { code, owner: user } = await guess(deps, asked, mailCode, origin).catch(asSecondFactor);
  assertMayLogIn(deps, user);
  const now = deps.clock.now();
  const authentications = [
    { method: 'password', at: code.askedAt },
    { method: 'mail-code', at: now },
  ] as const;
  const { session, opened } = await prepareSession(deps, { user, now, origin, keys, authentications });
  cancellation.throwIfAborted();
  const rememberedDevice = await deps.transactions.run(async (stores) => {
    const locked = await stores.users.lock(user.id);
    if (locked === null || shownBy(deps, locked) !== code.passwordShown)
      throw invalidSecondFactor('the password was wrong, or the account has changed since');
    await useCodes(stores, asked, code).catch(asSecondFactor);
    await storeLogin(deps, stores, { user: locked, session, verified, origin });
    return rememberDevice(deps, stores, { user: locked, texts, origin });
  });
  for (const attempt of loginAttempts(code.account, user, { networks, verified: [] }))
    await deps.attempts.succeed(attempt);
  return { opened, rememberedDevice };
};

const asSecondFactor = (error: unknown): never => {
  const isWrong = error instanceof AppError && error.code === 'AUTH_CODE_INVALID';
  throw isWrong ? invalidSecondFactor(error.reason ?? '') : error;
};
