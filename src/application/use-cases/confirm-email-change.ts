import { NO_ORIGIN } from '../../domain/event.ts';
import type { User } from '../../domain/user.ts';
import type { Stores, UnitOfWork } from '../ports/unit-of-work.ts';
import { addressHeldBy, assertNotHeld, hold } from '../steps/held-addresses.ts';
import { findLink, invalidLink, type LinkDeps, takeLink, withdrawLinks } from '../steps/links.ts';
import type { NoticeDeps } from '../steps/notices.ts';
import { record, tell } from '../steps/record.ts';

export type ConfirmEmailChangeDeps = LinkDeps & NoticeDeps & { readonly unitOfWork: UnitOfWork };

/**
 * Changes the address of a user to the one that the link was sent to, which is proven by that. Links that were sent to the former
 * address end, but it can be taken back for seven days, unless its owner is not told because such notices are off.
 * @throws AppError AUTH_LINK_INVALID, AUTH_USER_DUPLICATE
 */
export const confirmEmailChange =
  (deps: ConfirmEmailChangeDeps) =>
  (token: string, origin = NO_ORIGIN): Promise<void> =>
    deps.unitOfWork.run(async (stores) => {
      const link = await findLink(deps, stores, 'email-change', token);
      const { userId, email } = link;
      const before = await stores.users.findById(userId);
      if (before === null) throw invalidLink('the user does not exist');
      const now = deps.clock.now();
      const unchanged = { email: before.email, disabledAt: null };
      const user = await stores.users.update(userId, { email, emailVerifiedAt: now, now }, unchanged);
      if (user === null) throw invalidLink('the account is disabled, or its address was changed meanwhile');
      await takeLink(deps, stores, link);
      await assertNotHeld(deps, stores, user);
      await withdrawLinks(stores, userId, ['password-reset', 'email-verification', 'not-me', 'email-change']);
      await record(deps, stores, origin, [{ userId, kind: 'email-changed' }]);
      await releaseOrHold(deps, stores, before, user);
      if (!isTold(deps)) return;
      await tell(deps, stores, origin, [{ kind: 'email-changed', userId, to: before.email, email }]);
    });

const isTold = ({ notices }: NoticeDeps): boolean => notices?.has('email') ?? false;

/**
 * Of several changes one after the other, the first one can be undone: whoever takes an account over could else change the address
 * twice, and the owner could not take it back. An address that the user has again needs not be held.
 */
const releaseOrHold = async (deps: ConfirmEmailChangeDeps, stores: Stores, before: User, { email }: User) => {
  const held = await addressHeldBy(deps, stores, before.id);
  if (held !== null && held !== email) return;
  await withdrawLinks(stores, before.id, ['email-change-undo']);
  if (isTold(deps)) await hold(deps, stores, before);
};
