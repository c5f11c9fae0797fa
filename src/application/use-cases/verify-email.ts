import { canonicalEmail } from '../../domain/account.ts';
import { NO_ORIGIN } from '../../domain/event.ts';
import type { Link } from '../../domain/link.ts';
import type { Outbox } from '../ports/outbox.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import type { UserRepository } from '../ports/user-repository.ts';
import { findLink, invalidLink, type LinkDeps, takeLink } from '../steps/links.ts';
import { type RecordDeps, record, tell } from '../steps/record.ts';
import { removeAccount } from '../steps/remove-account.ts';

export type RequestEmailVerificationDeps = RecordDeps & { readonly outbox: Outbox };

/** Asks for another link that proves an address. Whether the address has an account is looked up when the link is sent. */
export const requestEmailVerification =
  (deps: RequestEmailVerificationDeps) =>
  (email: string, origin = NO_ORIGIN): Promise<void> =>
    tell(deps, deps, origin, [{ kind: 'email-verification-request', userId: null, to: canonicalEmail(email) }]);

export type ConfirmEmailDeps = LinkDeps & RecordDeps & { readonly unitOfWork: UnitOfWork };

/**
 * Marks an address as proven, if it is still that of the user. From then on nobody can remove the account as not theirs.
 * @throws AppError AUTH_LINK_INVALID
 */
export const confirmEmail =
  (deps: ConfirmEmailDeps) =>
  (token: string, origin = NO_ORIGIN): Promise<void> =>
    deps.unitOfWork.run(async (stores) => {
      const link = await findLink(deps, stores, 'email-verification', token);
      const { userId, email } = link;
      const now = deps.clock.now();
      const proven = await stores.users.update(userId, { emailVerifiedAt: now, now }, { email, emailVerifiedAt: null });
      if (proven === null) await assertProven(stores.users, link);
      await takeLink(deps, stores, link);
      await stores.links.removeOfUser(userId, ['not-me']);
      if (proven !== null) await record(deps, stores, origin, [{ userId, kind: 'email-verified' }]);
    });

/** The address may have been proven in another way. */
const assertProven = async (users: UserRepository, { userId, email }: Link): Promise<void> => {
  const user = await users.findById(userId);
  const isProven = user?.email === email && user.emailVerifiedAt !== null;
  if (!isProven) throw invalidLink('the address is not that of the user any more');
};

export type RemoveUnprovenAccountDeps = LinkDeps & RecordDeps & { readonly unitOfWork: UnitOfWork };

/**
 * "I did not register": removes the account that somebody registered with the address of another. Never one whose address was
 * proven, or one that is disabled: else whoever was shut out could delete the story of the account.
 * @throws AppError AUTH_LINK_INVALID
 */
export const removeUnprovenAccount =
  (deps: RemoveUnprovenAccountDeps) =>
  (token: string, origin = NO_ORIGIN): Promise<void> =>
    deps.unitOfWork.run(async (stores) => {
      const link = await findLink(deps, stores, 'not-me', token);
      const { userId, email } = link;
      const now = deps.clock.now();
      const unchanged = { email, emailVerifiedAt: null, disabledAt: null };
      const unproven = await stores.users.update(userId, { now }, unchanged);
      if (unproven === null) throw invalidLink('the address was proven, or the account is disabled');
      await takeLink(deps, stores, link);
      await removeAccount(deps, stores, unproven, { origin });
    });
