import { NO_ORIGIN } from '../../domain/event.ts';
import type { Link } from '../../domain/link.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import type { UserRepository } from '../ports/user-repository.ts';
import { findLink, invalidLink, type LinkDeps, takeLink } from '../steps/links.ts';
import { type RecordDeps, record } from '../steps/record.ts';

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
