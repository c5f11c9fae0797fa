import { NO_ORIGIN } from '../../domain/event.ts';
import { LINK_PURPOSES } from '../../domain/link.ts';
import type { LinkRepository } from '../ports/link-repository.ts';
import type { PasswordHasher } from '../ports/password-hasher.ts';
import { endSessionsOf } from '../steps/end-sessions.ts';
import { findLink, invalidLink, type LinkDeps, takeLink, withdrawLinks } from '../steps/links.ts';
import { type ChangeDeps, enqueue, record } from '../steps/record.ts';

export type UndoEmailChangeDeps = LinkDeps &
  ChangeDeps & { readonly links: LinkRepository; readonly hasher: PasswordHasher };

/**
 * Restores the former address of a user. Somebody who changed it knew the password, so the password stops working, all sessions end, and
 * the restored address gets a link for a new one.
 * @throws AppError AUTH_LINK_INVALID, AUTH_USER_DUPLICATE
 */
export const undoEmailChange =
  (deps: UndoEmailChangeDeps) =>
  async (token: string, origin = NO_ORIGIN): Promise<void> => {
    // A stranger without a link must not cause a hash.
    await findLink(deps, deps, 'email-change-undo', token);
    const passwordHash = await deps.hasher.hash(deps.linkTokens.next());
    await deps.unitOfWork.run(async (stores) => {
      const link = await findLink(deps, stores, 'email-change-undo', token);
      const { userId, email } = link;
      const now = deps.clock.now();
      const restored = await stores.users.update(userId, { email, emailVerifiedAt: now, now });
      if (restored === null) throw invalidLink('the user does not exist');
      await takeLink(deps, stores, link);
      await stores.users.setPasswordHash(userId, { passwordHash, isOfNewPassword: true, now });
      await withdrawLinks(stores, userId, LINK_PURPOSES);
      await record(deps, stores, origin, [{ userId, kind: 'email-change-undone' }]);
      await endSessionsOf(deps, stores, userId, { reason: 'email-change-undone', origin });
      await enqueue(deps, stores, origin, [
        { kind: 'email-change-undone', userId, to: email },
        { kind: 'password-reset', userId, to: email },
      ]);
    });
  };
