import { NO_ORIGIN } from '../../domain/event.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import { findLink, invalidLink, type LinkDeps, takeLink } from '../steps/links.ts';
import type { RecordDeps } from '../steps/record.ts';
import { removeAccount } from '../steps/remove-account.ts';

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
