import { NO_ORIGIN, type Origin } from '../../domain/event.ts';
import type { Link } from '../../domain/link.ts';
import { canonicalEmail } from '../../domain/user.ts';
import type { Outbox } from '../ports/outbox.ts';
import type { TokenSigner } from '../ports/token-signer.ts';
import type { Stores } from '../ports/transactions.ts';
import type { UserRepository } from '../ports/user-repository.ts';
import { type AssessTokensDeps, assessTokens, verifiedTokens } from '../sessions/tokens.ts';
import { type ChangeDeps, enqueue, type RecordDeps, record } from '../use-case.ts';
import { removeAccount } from './delete-account.ts';
import { findLink, invalidLink, type LinkDeps, useLink } from './links.ts';
import { type FirstProofDeps, removeAddedBeforeProof } from './remove-added.ts';

type RequestEmailVerificationDeps = RecordDeps & { readonly outbox: Outbox };

/** Requests another link that verifies an address. Whether the address has an account is looked up only when the link is sent. */
export const requestEmailVerification =
  (deps: RequestEmailVerificationDeps) =>
  (email: string, origin = NO_ORIGIN): Promise<void> =>
    enqueue(deps, deps, origin, [{ kind: 'email-verification-request', userId: null, to: canonicalEmail(email) }]);

export type ConfirmEmailDeps = LinkDeps &
  ChangeDeps &
  FirstProofDeps &
  Omit<AssessTokensDeps, 'sessions'> & { readonly tokens: TokenSigner };

type EmailConfirmation = {
  readonly token: string;
  readonly refreshTokens?: readonly string[];
  readonly locales?: readonly string[];
  readonly origin?: Origin;
};

/**
 * Marks an address as verified, if the user still has it. What was added to the account goes, since anybody can register with any address;
 * not if the request comes from a session of the user, who then has both, the account and the mailbox.
 * @throws AppError AUTH_LINK_INVALID
 */
export const confirmEmail =
  (deps: ConfirmEmailDeps) =>
  async ({ token, refreshTokens = [], locales = [], origin = NO_ORIGIN }: EmailConfirmation): Promise<void> => {
    await deps.transactions.run(async (stores) => {
      const link = await findLink(deps, stores, 'email-verification', token);
      const { userId, email } = link;
      const now = deps.clock.now();
      const verified = await stores.users.update(
        userId,
        { emailVerifiedAt: now, now },
        { email, emailVerifiedAt: null },
      );
      if (verified === null) await assertVerified(stores.users, link);
      await useLink(deps, stores, link);
      await stores.links.removeOfUser(userId, ['not-me']);
      if (verified === null) return;
      await record(deps, stores, origin, [{ userId, kind: 'email-verified' }]);
      if (await hasSession(deps, stores, userId, refreshTokens)) return;
      await removeAddedBeforeProof(deps, stores, verified, { reason: 'address-proven', origin, locales });
    });
  };

/** Whether one of the tokens is of a live session of the user. A key of its device need not be proven: the link is proof enough. */
const hasSession = async (
  deps: ConfirmEmailDeps,
  { sessions }: Pick<Stores, 'sessions'>,
  userId: string,
  refreshTokens: readonly string[],
): Promise<boolean> => {
  const own = (await verifiedTokens(deps, refreshTokens)).filter(({ claims }) => claims.sub === userId);
  const assessed = await assessTokens({ ...deps, sessions, deviceBinding: 'off' }, own);
  return assessed.some(({ status }) => status !== 'ended' && status !== 'reused');
};

/** The address may have been verified in another way. */
const assertVerified = async (users: UserRepository, { userId, email }: Link): Promise<void> => {
  const user = await users.findById(userId);
  const isVerified = user?.email === email && user.emailVerifiedAt !== null;
  if (!isVerified) throw invalidLink('the address is not that of the user any more');
};

type RemoveUnverifiedAccountDeps = LinkDeps & ChangeDeps;

/**
 * "I did not register": removes an account that was registered with somebody else's address. Not one whose address is verified, and not a
 * disabled one: its user could delete the events that led to the ban.
 * @throws AppError AUTH_LINK_INVALID
 */
export const removeUnverifiedAccount =
  (deps: RemoveUnverifiedAccountDeps) =>
  (token: string, origin = NO_ORIGIN): Promise<void> =>
    deps.transactions.run(async (stores) => {
      const link = await findLink(deps, stores, 'not-me', token);
      const { userId, email } = link;
      const now = deps.clock.now();
      const unchanged = { email, emailVerifiedAt: null, disabledAt: null };
      if ((await stores.users.update(userId, { now }, unchanged)) === null)
        throw invalidLink('the address was verified, or the account is disabled');
      await useLink(deps, stores, link);
      await removeAccount(deps, stores, userId, origin);
    });
