import { NO_ORIGIN } from '../../domain/event.ts';
import { type Link, survivesUndo, type UndoPurpose } from '../../domain/link.ts';
import type { User } from '../../domain/user.ts';
import { findLink, invalidLink, removeUndos, reservationOf, useLink } from '../links.ts';
import { type Core, enqueue, record } from '../service.ts';
import type { ClientContext } from '../sessions/prove-device.ts';
import type { Stores } from '../storage/stores.ts';
import { endWays } from './end-ways.ts';
import { endUnproven } from './prove-address.ts';

/**
 * Restores the address that the link was sent to, and removes the ways in that were added since. Somebody else knew the password, so it stops working,
 * all sessions end, and the address gets a link for a new one.
 */
export const takeAccountBack =
  (deps: Core, purpose: UndoPurpose) =>
  ({ token, locales = [], origin = NO_ORIGIN }: ClientContext & { readonly token: string }): Promise<void> =>
    deps.transactions.run(async (stores) => {
      const link = await findLink(deps, stores, token, purpose);
      const { userId, email } = link;
      const before = await stores.users.lock(userId);
      if (before === null) throw invalidLink('the user does not exist');
      const isFirst = await isFirstProof(deps, stores, before, link);
      await useLink(deps, stores, link);
      const now = deps.clock.now();
      const user = (await stores.users.update(userId, { email, emailVerifiedAt: now, now })) ?? before;
      const act = before.email === email ? 'factors-undone' : 'email-change-undone';
      await record(deps, stores, origin, [{ userId, kind: act }]);
      const isImported = ({ id }: { readonly id: string }) => user.importedFactors?.includes(id) ?? false;
      await endWays(deps, stores, act, user, { origin, leaves: (way) => survivesUndo(link, way) || isImported(way) });
      if (isFirst) await endUnproven(deps, stores, user, { origin, locales });
      await removeLaterUndos(deps, stores, before, link);
      await enqueue(deps, stores, origin, [
        { kind: act, userId, to: email },
        { kind: 'password-reset', userId, to: email },
      ]);
    });

/** An address that was given up unproven is reserved by a link that leaves nothing. */
const isFirstProof = async (deps: Core, stores: Stores, before: User, { email }: Link): Promise<boolean> => {
  if (before.email === email) return before.emailVerifiedAt === null;
  const reservation = await reservationOf(deps, stores, before.id);
  return reservation?.email === email && reservation.keeps === null && reservation.since === 0;
};

/** An earlier link of the same address stays: it undoes more. A link of the present address ends none of a former address. */
const removeLaterUndos = (deps: Core, stores: Stores, { id, email: before }: User, { email, since }: Link) =>
  removeUndos(deps, stores, id, (undo) => (undo.email === email ? undo.since >= since : before !== email));
