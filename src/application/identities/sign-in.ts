import { needsSecondFactor, RECENT_AUTHENTICATION } from '../../domain/assurance.ts';
import { AppError } from '../../domain/errors/app-error.ts';
import { addressOf, hostsMailbox, type VerifiedIdentity } from '../../domain/identity.ts';
import { NO_PASSWORD } from '../../domain/password.ts';
import type { User } from '../../domain/user.ts';
import { isTakenError, presentedInvitation, type RegisterInput } from '../accounts/applicant.ts';
import { registerByPolicy } from '../accounts/register.ts';
import { proveAddress } from '../accounts/ways.ts';
import {
  identityConflict,
  isBlocked,
  recordIdentityUse,
  storeIdentity,
  unlinkedIdentity,
} from '../linked-identities.ts';
import { assertMayLogIn, loginClient, openLogin } from '../login/open-login.ts';
import { type LoginResult, newPendingLogin } from '../login/pending-login.ts';
import { notifyOfChange } from '../notices.ts';
import type { ProviderAnswer } from '../ports/identity-providers.ts';
import { type Cancellation, NEVER_CANCELLED, type Service } from '../service.ts';
import { findRememberedDevice } from '../sessions/end-sessions.ts';
import type { ClientContext } from '../sessions/prove-device.ts';
import { findIdentity, identitiesOf, passkeysOf } from '../storage/credentials.ts';
import type { Stores } from '../storage/records.ts';

export type SignIn = ClientContext &
  Pick<RegisterInput, 'invitation' | 'extra'> & { readonly identity: ProviderAnswer };

/** The account has changed since the sign-in was decided, so that the decision has to be made again. */
class StaleDecision extends Error {}

/**
 * Opens a session for somebody who has logged in at a provider, or a pending log-in if a second factor is missing (ADR 0026). A linked identity logs in,
 * whatever its address. Otherwise, an address without an account may be registered. To an account with the address, the identity is linked only if the
 * provider has verified the address, and `assertMayBeLinked` allows it.
 */
export const signIn = (deps: Service) => {
  const attempt = signInOnce(deps);
  return async (input: SignIn, cancellation = NEVER_CANCELLED): Promise<LoginResult> => {
    try {
      return await attempt(input, cancellation);
    } catch (error) {
      if (!isOvertaken(error)) throw error;
    }
    return attempt(input, cancellation).catch((error: unknown) => {
      throw isOvertaken(error) ? identityConflict('others change the account, or the address is reserved') : error;
    });
  };
};

const isOvertaken = (error: unknown): boolean => error instanceof StaleDecision || isTakenError(error);

const signInOnce = (deps: Service) => {
  const register = registerByPolicy(deps);
  return async (input: SignIn, cancellation: Cancellation): Promise<LoginResult> => {
    const { identity } = input;
    const linked = await findIdentity(deps.records, identity);
    if (linked === null && identity.addressError !== undefined) throw identity.addressError;
    const email = addressOf(identity);
    const user = await (linked === null ? ownerOf(deps, input, email) : deps.users.findById(linked.userId));
    if (user !== null) return logIn(deps, { user, isLinked: linked !== null }, input, cancellation);
    if (linked !== null) throw new StaleDecision();
    if (email === null) throw registrationRefused('The provider has stated no email address. Register in another way.');
    const registered = await register({ ...input, email }, cancellation);
    if (registered === null) throw new AppError('AUTH_EMAIL_UNVERIFIED');
    return registered;
  };
};

const registrationRefused = (message: string): AppError =>
  new AppError('AUTH_REGISTRATION_REFUSED', { reason: 'identity', message });

/** The user with the address of an unlinked identity. If users have to verify addresses, an address that the provider has not verified is not looked up. */
const ownerOf = async (deps: Service, { identity: { isEmailVerified }, invitation }: SignIn, email: string | null) => {
  if (!isEmailVerified && email !== null) await presentedInvitation(deps, { email, invitation });
  if (!isEmailVerified && deps.emailVerification === 'required')
    throw registrationRefused('The provider does not say that this email address is yours. Register in another way.');
  const owner = email === null ? null : await deps.users.findByEmail(email);
  if (owner !== null && !isEmailVerified) throw identityConflict('the provider has not proven the address');
  return owner;
};

type Decision = { readonly user: User; readonly isLinked: boolean };

const logIn = async (deps: Service, { user, isLinked }: Decision, input: SignIn, cancellation: Cancellation) => {
  const { identity, locales = [], rememberedDevices = [] } = input;
  const client = await loginClient(deps, input);
  const { origin, verified } = client;
  const proves = user.emailVerifiedAt === null && identity.isEmailVerified && addressOf(identity) === user.email;
  const now = deps.clock.now();
  const expected = proves ? { ...user, emailVerifiedAt: now } : user;
  const rememberedDeviceId = proves ? null : await findRememberedDevice(deps, user, rememberedDevices);
  // A log-in at the provider that is older than `RECENT_AUTHENTICATION` counts as exactly that old, and so not as recent.
  const at = Math.max(Math.min(identity.authenticatedAt ?? now, now), now - RECENT_AUTHENTICATION.recent);
  const login = { user: expected, authentications: [{ method: 'identity', at }], cancellation } as const;
  return openLogin(deps, client, login, async (stores, store): Promise<LoginResult> => {
    const locked = await lockedAsDecided(stores, identity, { user, isLinked });
    if (!isLinked) await assertMayBeLinked(deps, stores, locked, identity);
    const current = proves ? await proveAddress(deps, stores, locked, { verified, locales, origin }) : locked;
    assertMayLogIn(deps, current);
    const waits = needsSecondFactor(deps, current) && rememberedDeviceId === null;
    const isStillLinked = isLinked && (!proves || (await findIdentity(stores.records, identity)) !== null);
    if (isStillLinked) await recordIdentityUse(stores, identity, now);
    // The session is stored first, so that the link in the mail about the log-in also undoes the linking below.
    const result = waits
      ? { pendingLogin: newPendingLogin(deps, current, 'identity') }
      : await store(current, { rememberedDeviceId });
    // A first factor alone links no identity to a proven account that needs a second factor. The next sign-in finds the account by its address again.
    if (!isStillLinked && (proves || !waits)) {
      const { id } = await storeIdentity(deps, stores, identity, current, origin);
      await notifyOfChange(deps, stores, { kind: 'identity-linked', user: current, origin, added: [id] });
    }
    return result;
  });
};

/** A former reader of the mailbox may have the identity. A proven account with a password, passkey or identity takes it only from the mailbox's host. */
const assertMayBeLinked = async (deps: Service, { records }: Stores, user: User, identity: VerifiedIdentity) => {
  if (user.emailVerifiedAt === null) return;
  if (isBlocked(deps, user, identity)) throw identityConflict('it was removed from the account', REMOVED_MESSAGE);
  if (hostsMailbox(identity)) return;
  const others = await Promise.all([passkeysOf(records, user.id), identitiesOf(records, user.id)]);
  // An account whose password or identity was removed counts as if it had one: it has had an owner.
  const isFresh = user.passwordHash === NO_PASSWORD && user.passwordChangedAt === 0 && !user.removedIdentities?.length;
  if (!isFresh || others.flat().length > 0) throw unlinkedIdentity();
};

const REMOVED_MESSAGE = 'This sign-in was removed from the account. Log in in another way, and link it again.';

const lockedAsDecided = async (
  stores: Stores,
  identity: VerifiedIdentity,
  { user: { id, email, emailVerifiedAt }, isLinked }: Decision,
): Promise<User> => {
  const locked = await stores.users.lock(id);
  const linked = await findIdentity(stores.records, identity);
  const isSame = locked?.email === email && locked.emailVerifiedAt === emailVerifiedAt;
  if (!isSame || (linked?.userId ?? null) !== (isLinked ? id : null)) throw new StaleDecision();
  return locked;
};
