import { UNDO_LIFETIME } from '../../domain/link.ts';
import type { LinkRepository } from '../ports/link-repository.ts';
import type { UserRepository } from '../ports/user-repository.ts';
import { heldBy } from '../steps/held-addresses.ts';
import { findLink, invalidLink, type LinkDeps } from '../steps/links.ts';
import { areAddressesTold, type NoticeDeps } from '../steps/notices.ts';

export type PreviewEmailChangeDeps = LinkDeps &
  Pick<NoticeDeps, 'notices'> & { readonly links: LinkRepository; readonly users: UserRepository };

type Preview = {
  readonly username: string;
  /** When the account was registered. Epoch milliseconds. */
  readonly createdAt: number;
  /** Until when a former address could take the account back if the change was confirmed now; `null` if none could. */
  readonly undoUntil: number | null;
};

/** Says whose address a link changes, and leaves the link usable. @throws AppError AUTH_LINK_INVALID */
export const previewEmailChange =
  (deps: PreviewEmailChangeDeps) =>
  async (token: string): Promise<Preview> => {
    const { userId, email } = await findLink(deps, deps, 'email-change', token);
    const user = await deps.users.findById(userId);
    if (user === null || user.disabledAt !== null) throw invalidLink('the user does not exist, or is disabled');
    const held = await heldBy(deps, deps, userId);
    const { username, createdAt } = user;
    if (held !== null && held.email !== email) return { username, createdAt, undoUntil: held.expiresAt };
    return { username, createdAt, undoUntil: areAddressesTold(deps) ? deps.clock.now() + UNDO_LIFETIME : null };
  };
