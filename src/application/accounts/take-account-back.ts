import { NO_ORIGIN, type Origin } from '../../domain/event.ts';
import { LINK_PURPOSES, type Link, type UndoPurpose } from '../../domain/link.ts';
import type { User } from '../../domain/user.ts';
import type { LinkRepository } from '../ports/link-repository.ts';
import type { PasswordHasher } from '../ports/password-hasher.ts';
import type { Stores } from '../ports/transactions.ts';
import { endSessionsOf } from '../sessions/end-sessions.ts';
import { type ChangeDeps, enqueue, record } from '../use-case.ts';
import { findLink, invalidLink, type LinkDeps, removeUndos, undosOf, useLink, withdrawLinks } from './links.ts';
import { type FirstProofDeps, removeAddedBeforeProof, removeFactors, removeIdentities } from './remove-added.ts';

export type TakeAccountBackDeps = LinkDeps &
  ChangeDeps &
  FirstProofDeps & { readonly links: LinkRepository; readonly hasher: PasswordHasher };

type TakingBack = {
  readonly token: string;
  readonly locales?: readonly string[];
  readonly origin?: Origin;
};

/** The event, the reason of the sessions that end, and the message. */
const DONE = {
  'email-change-undo': 'email-change-undone',
  'factors-undo': 'factors-undone',
} as const satisfies Record<UndoPurpose, string>;

/**
 * Restores the address that the link was sent to, and removes the factors and identities that were added since the time of the link. Somebody else
 * knew the password, so it stops working, all sessions end, and the address gets a link for a new one.
 * @throws AppError AUTH_LINK_INVALID, AUTH_USER_DUPLICATE
 */
export const takeAccountBack =
  (deps: TakeAccountBackDeps, purpose: UndoPurpose) =>
  async ({ token, locales = [], origin = NO_ORIGIN }: TakingBack): Promise<void> => {
    // A stranger without a link must not cause a hash.
    const link = await findLink(deps, deps, purpose, token);
    const { userId, email, since } = link;
    const passwordHash = await deps.hasher.hash(deps.secrets.random());
    await deps.transactions.run(async (stores) => {
      const before = await stores.users.lock(userId);
      if (before === null) throw invalidLink('the user does not exist');
      const now = deps.clock.now();
      await stores.users.update(userId, { email, emailVerifiedAt: now, now });
      const isFirstProof = await isUnverified(deps, stores, before, link);
      await useLink(deps, stores, link);
      const reason = DONE[purpose];
      await record(deps, stores, origin, [{ userId, kind: reason }]);
      await stores.users.setPasswordHash(userId, { passwordHash, isOfNewPassword: true, now });
      if (isFirstProof) await removeAddedBeforeProof(deps, stores, before, { reason, origin, locales });
      else {
        await removeFactors(deps, stores, before, { since, origin });
        await removeIdentities(deps, stores, userId, { since, origin });
      }
      await endSessionsOf(deps, stores, userId, { reason, origin });
      await withdrawOthers(deps, stores, before, { email, since: isFirstProof ? 0 : since });
      await enqueue(deps, stores, origin, [
        { kind: reason, userId, to: email },
        { kind: 'password-reset', userId, to: email },
      ]);
    });
  };

/** Whether the address of a link was never proven to be the user's before. One that was given up says so by its own link. */
const isUnverified = async (
  deps: TakeAccountBackDeps,
  stores: Stores,
  before: User,
  { userId, email }: Link,
): Promise<boolean> => {
  if (before.email === email) return before.emailVerifiedAt === null;
  const undos = await undosOf(deps, stores, userId);
  return undos.some((undo) => undo.email === email && undo.since === 0);
};

/**
 * Ends the links that have become useless, or that the other person has got. An earlier link of the same address stays: it undoes more. And a link
 * of the present address ends none of those with which a former address takes the account back.
 */
const withdrawOthers = async (
  deps: TakeAccountBackDeps,
  stores: Stores,
  { id, email: before }: User,
  { email, since }: Pick<Link, 'email' | 'since'>,
): Promise<void> => {
  await withdrawLinks(
    stores,
    id,
    LINK_PURPOSES.filter(
      (purpose) => purpose !== 'factors-undo' && (before !== email || purpose !== 'email-change-undo'),
    ),
  );
  await removeUndos(deps, stores, id, (undo) => (undo.email === email ? undo.since >= since : before !== email));
};
