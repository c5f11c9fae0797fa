import type { Method } from '../../domain/assurance.ts';
import { AppError } from '../../domain/errors/app-error.ts';
import { PENDING_LOGIN_LIFETIME } from '../../domain/second-factor.ts';
import type { User } from '../../domain/user.ts';
import type { Service } from '../service.ts';
import type { OpenedSession } from '../sessions/open-session.ts';
import { useOnce } from '../storage/credentials.ts';
import type { Stores } from '../storage/records.ts';

/** `pendingLogin` is for the cookie of `finishLogin`: a second factor or a code by mail is missing, or the password was wrong and the answer hides that. */
export type LoginResult = OpenedSession | { readonly pendingLogin: string };

type FirstMethod = Extract<Method, 'password' | 'mail-code' | 'identity' | 'adopted'>;

/** A log-in whose first factor was right, with the state of the account at that time. Only the browser stores it. */
export type PendingLogin = {
  readonly id: string;
  readonly userId: string;
  readonly method: FirstMethod;
  readonly passwordChangedAt: number;
  readonly emailVerifiedAt: number;
  readonly secondFactorAt: number;
  readonly startedAt: number;
  readonly expiresAt: number;
};

/** @returns a text for the browser, which sends it back with the second factor. */
export const newPendingLogin = (
  { secrets, clock, ids }: Pick<Service, 'secrets' | 'clock' | 'ids'>,
  { id: userId, passwordChangedAt, emailVerifiedAt, secondFactorAt }: User,
  method: FirstMethod = 'password',
): string => {
  const expiresAt = clock.now() + PENDING_LOGIN_LIFETIME;
  const value = `${ids.next()}.${passwordChangedAt}.${method}.${emailVerifiedAt ?? 0}.${secondFactorAt ?? 0}`;
  return secrets.sign({ purpose: 'login-pending', userId, sessionId: '', value, expiresAt });
};

export const invalidSecondFactor = (reason: string): AppError => new AppError('AUTH_SECOND_FACTOR_INVALID', { reason });

/** The latest of the log-ins that a browser presents: another host of the domain could add an earlier one, which the browser may send first. */
const latestPending = ({ secrets, clock }: Pick<Service, 'secrets' | 'clock'>, texts: readonly string[]) => {
  const now = clock.now();
  const opened = texts.map((text) => secrets.unsign(text, 'login-pending', now)).filter((each) => each !== null);
  return opened.sort((a, b) => b.expiresAt - a.expiresAt)[0];
};

/** Whether the browser presents a pending log-in that began after a time. @param time epoch milliseconds */
export const hasLaterLogin = (deps: Pick<Service, 'secrets' | 'clock'>, texts: readonly string[], time: number) =>
  (latestPending(deps, texts)?.expiresAt ?? 0) - PENDING_LOGIN_LIFETIME > time;

export const openPendingLogin = async (
  deps: Pick<Service, 'secrets' | 'clock' | 'users'>,
  texts: readonly string[],
): Promise<{ readonly pending: PendingLogin; readonly user: User }> => {
  const latest = latestPending(deps, texts);
  if (latest === undefined) throw invalidSecondFactor('no log-in waits for a second factor, or it has expired');
  const { userId, expiresAt, value } = latest;
  const [id = '', changedAt, method, ...times] = value.split('.') as [string?, string?, FirstMethod?, ...string[]];
  const [emailVerifiedAt = 0, secondFactorAt = 0] = times.map(Number);
  const startedAt = expiresAt - PENDING_LOGIN_LIFETIME;
  const state = { passwordChangedAt: Number(changedAt), emailVerifiedAt, secondFactorAt };
  const pending = { id, userId, method: method ?? 'password', ...state, startedAt, expiresAt };
  return { pending, user: assertSameAccount(pending, await deps.users.findById(userId)) };
};

/** Refuses a pending log-in after a deletion of the user, a change of the password, a proof of an address, or the removal of all apps. */
export const assertSameAccount = (pending: PendingLogin, user: User | null): User => {
  if (user === null || user.passwordChangedAt !== pending.passwordChangedAt)
    throw invalidSecondFactor('the password was changed after the log-in began');
  if ((user.emailVerifiedAt ?? 0) !== pending.emailVerifiedAt)
    throw invalidSecondFactor('the address was proven after the log-in began');
  if (user.secondFactorAt === null && pending.secondFactorAt > 0)
    throw invalidSecondFactor('the factors were removed after the log-in began');
  return user;
};

/** Ends a pending log-in, in the transaction that stores its session. @throws AppError AUTH_SECOND_FACTOR_INVALID when it has ended before. */
export const usePendingLogin = async ({ records }: Stores, { id, expiresAt }: PendingLogin): Promise<void> => {
  if (!(await useOnce(records, `login-pending ${id}`, expiresAt)))
    throw invalidSecondFactor('the log-in was finished before');
};
