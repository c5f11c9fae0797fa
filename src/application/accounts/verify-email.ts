import { NO_ORIGIN } from '../../domain/event.ts';
import { canonicalEmail, isImported } from '../../domain/user.ts';
import { findLink, invalidLink, useLink } from '../links.ts';
import { type Core, enqueue, type Service } from '../service.ts';
import type { ClientContext } from '../sessions/prove-device.ts';
import { verifiedTokens } from '../sessions/tokens.ts';
import { deleteLinks } from '../storage/links.ts';
import { removeAccount } from './delete-account.ts';
import { proveAddress } from './prove-address.ts';

/** Requests another link that verifies an address. Whether the address has an account is looked up only when the link is sent. */
export const requestEmailVerification =
  (deps: Service) =>
  (email: string, origin = NO_ORIGIN): Promise<void> =>
    enqueue(deps, deps, origin, [{ kind: 'email-verification-request', userId: null, to: canonicalEmail(email) }]);

type EmailConfirmation = ClientContext & { readonly token: string };

/** Proves an address, if the user still has it. The mail has named the account, so the password stays. */
export const confirmEmail =
  (deps: Service) =>
  async ({ token, refreshTokens = [], locales = [], origin = NO_ORIGIN }: EmailConfirmation): Promise<void> => {
    await deps.transactions.run(async (stores) => {
      const verified = await verifiedTokens(deps, refreshTokens);
      const link = await findLink(deps, stores, token, 'email-verification');
      const user = await stores.users.lock(link.userId);
      if (user?.email !== link.email) throw invalidLink('the address is not that of the user any more');
      await useLink(deps, stores, link);
      await proveAddress(deps, stores, user, { isPasswordShown: true, verified, locales, origin });
      await deleteLinks(stores.records, user.id, ['not-me']);
    });
  };

/**
 * "I did not register": removes an account that was registered with somebody else's address. Not one that was imported, or whose address is verified,
 * and not a disabled one: its user could delete the events that led to the ban.
 */
export const removeUnverifiedAccount =
  (deps: Core) =>
  (token: string, origin = NO_ORIGIN): Promise<void> =>
    deps.transactions.run(async (stores) => {
      const link = await findLink(deps, stores, token, 'not-me');
      const { userId, email } = link;
      const user = await stores.users.lock(userId);
      const isUnproven = user?.email === email && user.emailVerifiedAt === null;
      if (!isUnproven || user.disabledAt !== null || isImported(user))
        throw invalidLink('the address was verified, or the account is disabled or was imported');
      await useLink(deps, stores, link);
      await removeAccount(deps, stores, userId, origin);
    });
