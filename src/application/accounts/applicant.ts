import type { Attributes } from '../../domain/attributes.ts';
import { AppError, duplicateUser } from '../../domain/errors/app-error.ts';
import { NO_ORIGIN, type Origin } from '../../domain/event.ts';
import type { VerifiedIdentity } from '../../domain/identity.ts';
import { scopesOf } from '../../domain/operator.ts';
import { assertPasswordAllowed, NO_PASSWORD } from '../../domain/password.ts';
import { assertMayRegister, INVITATION_LIFETIME, type Invitation, MAX_INVITATIONS } from '../../domain/registration.ts';
import { preferredLocale } from '../../domain/text.ts';
import { canonicalEmail, derivedUsernames, isClaimable, newUser, type User } from '../../domain/user.ts';
import type { UserRepository } from '../ports/user-repository.ts';
import { type Core, enqueue, record, type Service } from '../service.ts';
import type { ClientContext } from '../sessions/prove-device.ts';
import { findInvitation, linksAbout, listInvitations, putInvitation, takeInvitation } from '../storage/credentials.ts';
import type { Stores } from '../storage/records.ts';

const invalidInvitation = (): AppError =>
  new AppError('AUTH_REGISTRATION_REFUSED', {
    reason: 'the invitation',
    message: 'The invitation is not valid for this email: it is for another one, was used or revoked, or has expired.',
  });

/** Checks the policy, and finds the presented invitation. Accounts are not looked up, so that the answer does not show whether the address has one. */
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

export const useInvitation = async ({ clock }: Service, { records }: Stores, invitation: Invitation): Promise<void> => {
  if (!(await takeInvitation(records, invitation, clock.now()))) throw invalidInvitation();
};

type Invitee = Pick<Invitation, 'email' | 'attributes'> & { readonly locale: string | null };

/**
 * Invites an address, in place of an earlier invitation. The token of the link is made when the mail is written.
 * @returns the invitation; `registered`: the address has an account that is not claimable (`isClaimable`); `too-many`: too many invitations are open.
 */
export const invite =
  (deps: Core) =>
  ({ email: typed, attributes, locale }: Invitee, origin: Origin): Promise<Invitation | 'registered' | 'too-many'> =>
    deps.transactions.run(async (stores) => {
      const { clock, ids, secrets } = deps;
      const [email, createdAt] = [canonicalEmail(typed), clock.now()];
      const holder = await stores.users.findByEmail(email);
      if (holder !== null && !isClaimable(holder)) return 'registered';
      const isNew = (await findInvitation(stores.records, { email }, createdAt)) === null;
      const open = isNew ? await listInvitations(stores.records, createdAt, MAX_INVITATIONS) : [];
      if (open.length >= MAX_INVITATIONS) return 'too-many';
      const expiresAt = createdAt + INVITATION_LIFETIME;
      const tokenHash = secrets.hashOf(secrets.random());
      const invitation = { id: ids.next(), email, tokenHash, attributes, createdAt, expiresAt };
      await putInvitation(stores.records, invitation);
      await record(deps, stores, origin, [{ userId: invitation.id, kind: 'invited' }]);
      await enqueue(deps, stores, origin, [{ kind: 'invitation', userId: null, to: email, locale, createdAt }]);
      return invitation;
    });

export const revokeInvitation = (deps: Core) => (email: string, origin: Origin) =>
  deps.transactions.run(async (stores) => {
    const now = deps.clock.now();
    const invitation = await findInvitation(stores.records, { email: canonicalEmail(email) }, now);
    if (invitation === null || !(await takeInvitation(stores.records, invitation, now))) return null;
    await record(deps, stores, origin, [{ userId: invitation.id, kind: 'invitation-revoked' }]);
    return invitation;
  });

export type RegisterInput = ClientContext & {
  /** Default: the service derives a username from the email. */
  readonly username?: string | undefined;
  readonly email: string;
  /** Without a password, the user logs in in other ways. */
  readonly password?: string | undefined;
  readonly invitation?: string | undefined;
  /** The identity that is linked to the account. Its address is `email`. */
  readonly identity?: VerifiedIdentity | undefined;
  readonly extra?: Readonly<Record<string, string>> | undefined;
};

/** Checks the policy, the invitation and the password. @returns the presented invitation, or `null`. */
export const checkRegistration = async (deps: Service, input: RegisterInput): Promise<Invitation | null> => {
  const { username, email, password } = input;
  const invitation = await presentedInvitation(deps, input);
  if (password !== undefined)
    await assertPasswordAllowed(deps, { username: username ?? email, email, password }, 'password');
  return invitation;
};

type Usernames = readonly [string, ...string[]];

export type Applicant = {
  /** The user with the last of the usernames. */
  readonly user: User;
  readonly usernames: Usernames;
};

/** Makes the user of a registration. Stored accounts are not looked up. */
export const applicantOf = async (deps: Service, input: RegisterInput, invitation: Invitation | null = null) => {
  const { hasher, secrets, clock, ids, mailLocales = [] } = deps;
  const { username: chosen, email, password, locales = [] } = input;
  const locale = preferredLocale(locales, mailLocales);
  const attributes = await attributesOf(deps, input, locale, invitation);
  const passwordHash = password === undefined ? NO_PASSWORD : await hasher.hash(password);
  const usernames: Usernames = chosen === undefined ? derivedUsernames(email, secrets.random()) : [chosen];
  const username = usernames.at(-1) ?? usernames[0];
  const now = clock.now();
  const isProven = invitation !== null || (input.identity?.isEmailVerified ?? false);
  const emailVerifiedAt = isProven ? now : null;
  const user = newUser({ id: ids.next(), username, email, passwordHash, now, locale, attributes, emailVerifiedAt });
  return { user, usernames } satisfies Applicant;
};

const attributesOf = async (
  { beforeRegister, adminUsers }: Service,
  { username, email, origin = NO_ORIGIN, extra = {} }: RegisterInput,
  locale: string | null,
  invitation: Invitation | null,
): Promise<Attributes> => {
  if (beforeRegister === undefined) return invitation?.attributes ?? {};
  const { address, userAgent } = origin;
  const request = { username: username ?? null, email: canonicalEmail(email), locale, invited: invitation !== null };
  const answer = await beforeRegister({ ...request, address, userAgent, extra }, invitation?.attributes);
  if (answer.decision !== 'allow')
    throw new AppError('AUTH_REGISTRATION_REFUSED', { reason: 'by a hook', hookMessage: answer.message });
  const { attributes = {} } = answer;
  // The attributes of an invitation may make an operator of the user, those of the hook may not.
  if (scopesOf(adminUsers, attributes).length > scopesOf(adminUsers, invitation?.attributes ?? {}).length)
    throw new AppError('SYS_HOOK_UNAVAILABLE', { reason: 'it makes an operator of ADMIN_USERS' });
  return attributes;
};

/** Whether an address is reserved for another user, who had it and can still take it back (ADR 0010). */
export const isReserved = async (
  { clock }: Pick<Core, 'clock'>,
  { records }: Pick<Stores, 'records'>,
  { id, email }: Pick<User, 'id' | 'email'>,
): Promise<boolean> => {
  const undos = await linksAbout(records, 'email-change-undo', email, clock.now());
  return undos.some(({ userId }) => userId !== id);
};

/** Refuses a reserved address. The caller has stored the address before, in the same transaction, so that a reservation that is just being made is seen. */
export const assertNotReserved = async (deps: Core, stores: Stores, user: Pick<User, 'id' | 'email'>) => {
  if (await isReserved(deps, stores, user)) throw duplicateUser('email', 'the address is reserved');
};

/** Stores an applicant under the first free username. Each try is a transaction of its own, since a taken username fails the transaction. */
export const storeUnderFreeUsername = async <Result>(
  users: Pick<UserRepository, 'findByUsername'>,
  { user, usernames: [username, next, ...others] }: Applicant,
  store: (user: User) => Promise<Result>,
): Promise<Result> => {
  try {
    return await store({ ...user, username });
  } catch (error) {
    const isOfUsername = async () => isTakenError(error) && (await users.findByUsername(username)) !== null;
    if (next === undefined || !(await isOfUsername())) throw error;
    return storeUnderFreeUsername(users, { user, usernames: [next, ...others] }, store);
  }
};

export const isTakenError = (error: unknown): boolean =>
  error instanceof AppError && (error.code === 'AUTH_USER_DUPLICATE' || error.code === 'DB_UNIQUE_VIOLATION');
