import { NO_ORIGIN, type Origin } from '../../domain/event.ts';
import type { Link, LinkPurpose } from '../../domain/link.ts';
import { assertPasswordAllowed, type PasswordRuleDeps } from '../../domain/password.ts';
import { canonicalEmail, type User } from '../../domain/user.ts';
import { type NoticeDeps, notifiesFormerAddress } from '../notices.ts';
import type { LinkRepository } from '../ports/link-repository.ts';
import type { Outbox } from '../ports/outbox.ts';
import type { PasswordHasher } from '../ports/password-hasher.ts';
import type { Stores } from '../ports/transactions.ts';
import type { UserRepository } from '../ports/user-repository.ts';
import { endSessionsOf } from '../sessions/end-sessions.ts';
import { type ChangeDeps, enqueue, NEVER_CANCELLED, type RecordDeps, record } from '../use-case.ts';
import { findLink, invalidLink, type LinkDeps, reservationOf, useLink, withdrawLinks } from './links.ts';
import { type FirstProofDeps, removeAddedBeforeProof } from './remove-added.ts';

type RequestPasswordResetDeps = RecordDeps & { readonly outbox: Outbox };

/**
 * Requests a link with which the owner of an address can choose a new password. Whether the address has an account is looked up only when
 * the message is sent, so that the response time is the same for every address.
 */
export const requestPasswordReset =
  (deps: RequestPasswordResetDeps) =>
  (email: string, origin: Origin = NO_ORIGIN): Promise<void> =>
    enqueue(deps, deps, origin, [{ kind: 'password-reset-request', userId: null, to: canonicalEmail(email) }]);

export type ResetPasswordDeps = ChangeDeps &
  NoticeDeps &
  FirstProofDeps &
  PasswordRuleDeps &
  LinkDeps & {
    readonly users: UserRepository;
    readonly links: LinkRepository;
    readonly hasher: PasswordHasher;
  };

type PreviewPasswordResetDeps = Pick<ResetPasswordDeps, 'users' | 'links' | 'secrets' | 'clock'>;

/** Shows whose password a link sets, without using the link up. @throws AppError AUTH_LINK_INVALID */
export const previewPasswordReset =
  (deps: PreviewPasswordResetDeps) =>
  async (token: string): Promise<Pick<User, 'username'>> => {
    const link = await findLink(deps, deps, 'password-reset', token);
    const { username } = ownerOf(link, await deps.users.findById(link.userId));
    return { username };
  };

type ResetPasswordInput = {
  readonly token: string;
  readonly newPassword: string;
  readonly locales?: readonly string[];
  readonly origin?: Origin;
};

/**
 * Sets a new password with the link that was sent to the address of the account, and ends all sessions of the user. If nobody has proven the
 * address before, everything goes that was added to the account. Only a live link causes a hash.
 * @throws AppError AUTH_LINK_INVALID, CLIENT_PARAMS_VALIDATION_FAILED
 */
export const resetPassword =
  (deps: ResetPasswordDeps) =>
  async (input: ResetPasswordInput, cancellation = NEVER_CANCELLED): Promise<void> => {
    const { token, newPassword, locales = [], origin = NO_ORIGIN } = input;
    const link = await findLink(deps, deps, 'password-reset', token);
    const user = ownerOf(link, await deps.users.findById(link.userId));
    assertPasswordAllowed(deps, { ...user, password: newPassword }, 'newPassword');
    cancellation.throwIfAborted();
    const passwordHash = await deps.hasher.hash(newPassword);
    cancellation.throwIfAborted();
    await deps.transactions.run(async (stores) => {
      await replacePassword(deps, stores, { link, passwordHash, locales, origin });
      cancellation.throwIfAborted();
    });
  };

/** The user of a link, if the account still has the address that it was sent to. @throws AppError AUTH_LINK_INVALID */
const ownerOf = (link: Link, user: User | null): User => {
  if (user === null || user.email !== link.email) throw invalidLink('the address of the account was changed');
  if (user.disabledAt !== null) throw invalidLink('the account is disabled');
  return user;
};

type Replacement = Required<Pick<ResetPasswordInput, 'locales' | 'origin'>> & {
  readonly link: Link;
  readonly passwordHash: string;
};

const replacePassword = async (
  deps: ResetPasswordDeps,
  stores: Stores,
  { link, passwordHash, locales, origin }: Replacement,
): Promise<void> => {
  const { userId, email } = link;
  const now = deps.clock.now();
  ownerOf(link, await stores.users.lock(userId));
  await useLink(deps, stores, link);
  await stores.users.setPasswordHash(userId, { passwordHash, isOfNewPassword: true, now });
  const proven = await stores.users.update(userId, { emailVerifiedAt: now, now }, { emailVerifiedAt: null });
  await record(deps, stores, origin, [{ userId, kind: 'password-reset' }]);
  const ending = { reason: 'password-reset', origin } as const;
  if (proven !== null) await removeAddedBeforeProof(deps, stores, proven, { ...ending, locales });
  await endSessionsOf(deps, stores, userId, ending);
  await withdrawLinks(stores, userId, OUTDATED);
  await notifyFormerAddress(deps, stores, link, origin);
  if (!deps.notices?.has('password')) return;
  await enqueue(deps, stores, origin, [{ kind: 'password-was-reset', userId, to: email }]);
};

/**
 * The former address can still take the account back, and both are told until when. A reset by the new one shortens nothing: it may be the
 * address of somebody who knew the password.
 */
const notifyFormerAddress = async (deps: ResetPasswordDeps, stores: Stores, link: Link, origin: Origin) => {
  const { userId, email } = link;
  const former = await reservationOf(deps, stores, userId);
  if (former === null || former.email === email || !notifiesFormerAddress(deps)) return;
  const kind = 'email-change-final';
  await enqueue(deps, stores, origin, [
    { kind, userId, to: former.email },
    { kind, userId, to: email },
  ]);
};

/**
 * Links that an attacker with the old password may have requested, or that the reset made superfluous. Those of a former address that take
 * the account back stay: they belong to its owner. Those of this address stay, too: a new password removes no factor.
 */
const OUTDATED: readonly LinkPurpose[] = ['password-reset', 'email-change', 'email-verification', 'not-me'];
