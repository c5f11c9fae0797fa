import type { Attributes } from '../../domain/attributes.ts';
import { AppError } from '../../domain/errors/app-error.ts';
import type { Origin } from '../../domain/event.ts';
import { INVITATION_LIFETIME, INVITATIONS_AT_MOST, type Invitation } from '../../domain/invitation.ts';
import { assertMayRegister } from '../../domain/registration.ts';
import { canonicalEmail, isClaimable } from '../../domain/user.ts';
import { type Core, enqueue, record, type Service } from '../service.ts';
import { findInvitation, listInvitations, putInvitation, takeInvitation } from '../storage/links.ts';
import type { Stores } from '../storage/stores.ts';

const invalidInvitation = (): AppError =>
  new AppError('AUTH_REGISTRATION_REFUSED', {
    reason: 'the invitation',
    message: 'The invitation is not valid for this email: it is for another one, was used or revoked, or has expired.',
  });

/**
 * The invitation that a registration presents; `null`: none, and it needs none. Nothing is looked up about the address, so that neither the
 * answer nor its time shows whether it has an account.
 * @throws AppError AUTH_REGISTRATION_CLOSED, AUTH_REGISTRATION_REFUSED
 */
export const presentedInvitation = async (
  { registration, records, secrets, clock }: Service,
  { email, invitation: token }: { readonly email: string; readonly invitation?: string | undefined },
): Promise<Invitation | null> => {
  assertMayRegister(registration, email, token !== undefined);
  if (token === undefined) return null;
  const found = await findInvitation(records, { tokenHash: secrets.hashOf(token) }, clock.now());
  if (found?.email !== canonicalEmail(email)) throw invalidInvitation();
  return found;
};

/** Uses an invitation up, in the transaction of the registration: one of several succeeds. @throws AppError AUTH_REGISTRATION_REFUSED */
export const useInvitation = async ({ clock }: Service, { records }: Stores, invitation: Invitation): Promise<void> => {
  if (!(await takeInvitation(records, invitation, clock.now()))) throw invalidInvitation();
};

type Invited = {
  readonly email: string;
  readonly attributes: Attributes;
  /** The language of the mail; `null` for the default. */
  readonly locale: string | null;
};

/**
 * Invites an address, in place of an earlier invitation. The token of its link is made when the mail is written.
 * @returns the invitation; or why there is none: the address has an account that somebody has proven, or too many are open.
 */
export const invite =
  (deps: Core) =>
  ({ email: given, attributes, locale }: Invited, origin: Origin): Promise<Invitation | 'registered' | 'too-many'> =>
    deps.transactions.run(async (stores) => {
      const { clock, ids, secrets } = deps;
      const [email, createdAt] = [canonicalEmail(given), clock.now()];
      const holder = await stores.users.findByEmail(email);
      if (holder !== null && !isClaimable(holder)) return 'registered';
      const isNew = (await findInvitation(stores.records, { email }, createdAt)) === null;
      const open = isNew ? await listInvitations(stores.records, createdAt, INVITATIONS_AT_MOST) : [];
      if (open.length >= INVITATIONS_AT_MOST) return 'too-many';
      const expiresAt = createdAt + INVITATION_LIFETIME;
      const tokenHash = secrets.hashOf(secrets.random());
      const invitation = { id: ids.next(), email, tokenHash, attributes, createdAt, expiresAt };
      await putInvitation(stores.records, invitation);
      await record(deps, stores, origin, [{ userId: invitation.id, kind: 'invited' }]);
      await enqueue(deps, stores, origin, [{ kind: 'invitation', userId: null, to: email, locale, createdAt }]);
      return invitation;
    });

/** Takes an invitation back. @returns it; `null` if the address has none. */
export const revokeInvitation =
  (deps: Core) =>
  (email: string, origin: Origin): Promise<Invitation | null> =>
    deps.transactions.run(async (stores) => {
      const now = deps.clock.now();
      const invitation = await findInvitation(stores.records, { email: canonicalEmail(email) }, now);
      if (invitation === null || !(await takeInvitation(stores.records, invitation, now))) return null;
      await record(deps, stores, origin, [{ userId: invitation.id, kind: 'invitation-revoked' }]);
      return invitation;
    });
