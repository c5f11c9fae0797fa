import { canonicalEmail } from '../../domain/account.ts';
import { NO_ORIGIN, type Origin } from '../../domain/event.ts';
import type { Link, LinkPurpose } from '../../domain/link.ts';
import type { MessageKind, Notice } from '../../domain/message.ts';
import type { User } from '../../domain/user.ts';
import { NEVER_CANCELLED } from '../cancellation.ts';
import type { LinkRepository } from '../ports/link-repository.ts';
import type { LinkTokens } from '../ports/link-tokens.ts';
import type { Outbox } from '../ports/outbox.ts';
import type { PasswordBlocklist } from '../ports/password-blocklist.ts';
import type { PasswordHasher } from '../ports/password-hasher.ts';
import type { Stores, UnitOfWork } from '../ports/unit-of-work.ts';
import type { UserRepository } from '../ports/user-repository.ts';
import { assertPasswordAllowed } from '../steps/assert-password-allowed.ts';
import { endSessionsOf } from '../steps/end-sessions.ts';
import { endHoldSoon } from '../steps/held-addresses.ts';
import { findLink, invalidLink, takeLink } from '../steps/links.ts';
import { areAddressesTold } from '../steps/notices.ts';
import { type RecordDeps, record, tell } from '../steps/record.ts';

export type RequestPasswordResetDeps = RecordDeps & { readonly outbox: Outbox };

/**
 * Asks for a link with which the owner of an address can choose a new password. Whether the address has an account is looked up when the
 * message is sent: until then every address costs the same.
 */
export const requestPasswordReset =
  (deps: RequestPasswordResetDeps) =>
  (email: string, origin: Origin = NO_ORIGIN): Promise<void> =>
    tell(deps, deps, origin, [{ kind: 'password-reset-request', userId: null, to: canonicalEmail(email) }]);

export type ResetPasswordDeps = RecordDeps & {
  readonly users: UserRepository;
  readonly links: LinkRepository;
  readonly unitOfWork: UnitOfWork;
  readonly linkTokens: LinkTokens;
  readonly hasher: PasswordHasher;
  /** `null`: common passwords are allowed. */
  readonly blocklist: PasswordBlocklist | null;
  /** What users are told by email; nothing without mail. */
  readonly notices?: ReadonlySet<Notice> | undefined;
};

type ResetPasswordInput = {
  /** The token of the link. */
  readonly token: string;
  /** Validated against the limits of the domain. */
  readonly newPassword: string;
  readonly origin?: Origin;
};

/**
 * Sets a new password for whoever has the link that was sent to the address of the account, and ends all sessions of the user. A password
 * that is refused leaves the link as it is. Passwords are hashed for live links alone.
 * @throws AppError AUTH_LINK_INVALID, CLIENT_PARAMS_VALIDATION_FAILED
 */
export const resetPassword =
  (deps: ResetPasswordDeps) =>
  async (input: ResetPasswordInput, cancellation = NEVER_CANCELLED): Promise<void> => {
    const { token, newPassword, origin = NO_ORIGIN } = input;
    const user = await ownerOf(await findLink(deps, deps, 'password-reset', token), deps.users);
    assertPasswordAllowed(deps, { ...user, password: newPassword }, 'newPassword');
    cancellation.throwIfAborted();
    const passwordHash = await deps.hasher.hash(newPassword);
    cancellation.throwIfAborted();
    await deps.unitOfWork.run(async (stores) => {
      await replacePassword(deps, stores, { token, passwordHash, origin });
      cancellation.throwIfAborted();
    });
  };

/** The owner of a link that was sent to the address which the account still has. @throws AppError AUTH_LINK_INVALID */
const ownerOf = async (link: Link, users: UserRepository): Promise<User> => {
  const user = await users.findById(link.userId);
  if (user === null || user.email !== link.email) throw invalidLink('the address of the account was changed');
  if (user.disabledAt !== null) throw invalidLink('the account is disabled');
  return user;
};

type Replacement = { readonly token: string; readonly passwordHash: string; readonly origin: Origin };

/** The user is changed first: that locks the user, so that nothing read after it changes before the end of the unit of work. */
const replacePassword = async (
  deps: ResetPasswordDeps,
  stores: Stores,
  { token, passwordHash, origin }: Replacement,
): Promise<void> => {
  const link = await findLink(deps, stores, 'password-reset', token);
  const { userId, email } = link;
  const now = deps.clock.now();
  await stores.users.setPasswordHash(userId, { passwordHash, isOfNewPassword: true, now });
  await takeLink(deps, stores, link);
  await ownerOf(link, stores.users);
  await stores.users.update(userId, { emailVerifiedAt: now, now }, { emailVerifiedAt: null });
  await record(deps, stores, origin, [{ userId, kind: 'password-reset' }]);
  await endSessionsOf(deps, stores, { userId, exceptId: null }, { reason: 'password-reset', origin });
  await removeOutdated(stores, userId);
  if (areAddressesTold(deps)) await endUndo(deps, stores, link, origin);
  if (!deps.notices?.has('password')) return;
  await tell(deps, stores, origin, [{ kind: 'password-was-reset', userId, to: email }]);
};

/** Whoever got the account with its address is to keep it, but the former address is told a day before it can object no more. */
const endUndo = async (deps: ResetPasswordDeps, stores: Stores, { userId, email }: Link, origin: Origin) => {
  const former = await endHoldSoon(deps, stores, userId);
  if (former === null) return;
  const kind = 'email-change-final';
  await tell(deps, stores, origin, [
    { kind, userId, to: former },
    { kind, userId, to: email },
  ]);
};

/**
 * What somebody else may have asked for who knew the old password, and what the reset has proved. The link that undoes a change of the
 * address stays for a day: it belongs to the owner of the former address.
 */
const OUTDATED_MESSAGES: readonly MessageKind[] = ['password-reset', 'email-change', 'email-verification'];
const OUTDATED_LINKS: readonly LinkPurpose[] = ['password-reset', 'email-change', 'email-verification', 'not-me'];

/** The messages first: one that is being prepared locks itself, and its links are stored once it is free. */
const removeOutdated = async ({ outbox, links }: Stores, userId: string): Promise<void> => {
  const waiting = await outbox.listByUser(userId);
  await outbox.remove(waiting.filter(({ kind }) => OUTDATED_MESSAGES.includes(kind)).map(({ id }) => id));
  await links.removeOfUser(userId, OUTDATED_LINKS);
};
