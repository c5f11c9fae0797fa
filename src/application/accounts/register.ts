import { AppError, duplicateUser } from '../../domain/errors/app-error.ts';
import { NO_ORIGIN, type Origin } from '../../domain/event.ts';
import type { VerifiedIdentity } from '../../domain/identity.ts';
import type { Invitation } from '../../domain/registration.ts';
import { isClaimable, type User } from '../../domain/user.ts';
import { storeIdentity } from '../linked-identities.ts';
import { newPendingLogin } from '../login/pending-login.ts';
import { type Cancellation, enqueue, NEVER_CANCELLED, record, type Service } from '../service.ts';
import { rememberDevice } from '../sessions/end-sessions.ts';
import { type OpenedSession, prepareSession, storeSession } from '../sessions/open-session.ts';
import { NOTHING_PRESENTED, provenKeys } from '../sessions/prove-device.ts';
import { findInvitation, putInvitation } from '../storage/credentials.ts';
import type { Stores } from '../storage/records.ts';
import {
  type Applicant,
  applicantOf,
  assertNotReserved,
  checkRegistration,
  isTakenError,
  type RegisterInput,
  storeUnderFreeUsername,
  useInvitation,
} from './applicant.ts';
import { removeAccount } from './profile.ts';
import { registerUnverified } from './register-unverified.ts';
import { proveAddress } from './ways.ts';

/** Registers a user and opens a session. After a failure, a new user is removed again if possible, so that the client can repeat the request (ADR 0003). */
export const register =
  (deps: Service) =>
  async (input: RegisterInput, cancellation = NEVER_CANCELLED): Promise<OpenedSession> => {
    const { origin = NO_ORIGIN, presented = NOTHING_PRESENTED, password, identity } = input;
    const invitation = await checkRegistration(deps, input);
    const keys = await provenKeys(deps, presented);
    const { holder, applicant } = await withHolder(deps, invitation, await applicantOf(deps, input, invitation));
    cancellation.throwIfAborted();
    const now = deps.clock.now();
    const method = identity ? 'identity' : password === undefined ? 'registration-without-password' : 'registration';
    return storeUnderFreeUsername(deps.users, applicant, async (user) => {
      const authentications = [{ method, at: now }] as const;
      const { session, opened } = await prepareSession(deps, { user, origin, keys, authentications });
      let rememberedDevice: string | null = null;
      await storeRegistration(deps, { user, holder, invitation, identity, origin, cancellation }, async (stores) => {
        await storeSession(deps, stores, session, { kind: 'registered', user, origin });
        if ((deps.newDeviceCode ?? 'off') !== 'off')
          rememberedDevice = await rememberDevice(deps, stores, { user, texts: [], origin });
      });
      return rememberedDevice === null ? opened : { ...opened, rememberedDevice };
    });
  };

/**
 * Registers a user who has to add a second factor before the first log-in.
 * @returns a pending log-in, for the cookie of `finishLogin`; `null` for a user with neither a password nor an identity.
 */
export const registerPending =
  (deps: Service) =>
  async (input: RegisterInput, cancellation = NEVER_CANCELLED): Promise<string | null> => {
    const { origin = NO_ORIGIN, identity } = input;
    const invitation = await checkRegistration(deps, input);
    const { holder, applicant } = await withHolder(deps, invitation, await applicantOf(deps, input, invitation));
    await storeUnderFreeUsername(deps.users, applicant, (user) =>
      storeRegistration(deps, { user, holder, invitation, identity, origin, cancellation }, (stores) =>
        record(deps, stores, origin, [{ userId: user.id, kind: 'registered' }]),
      ),
    );
    const user = (holder && (await deps.users.findById(holder.id))) ?? applicant.user;
    if (identity !== undefined) return newPendingLogin(deps, user, 'identity');
    return input.password === undefined ? null : newPendingLogin(deps, user);
  };

/** `null`: the user has to verify the address, or to log in without a password. `pendingLogin`: the user has to add a second factor. */
export type RegistrationResult = OpenedSession | { readonly pendingLogin: string } | null;

export const registerByPolicy =
  (deps: Service) =>
  async (input: RegisterInput, cancellation = NEVER_CANCELLED): Promise<RegistrationResult> => {
    if (deps.emailVerification === 'required' && input.invitation === undefined && input.identity === undefined) {
      await registerUnverified(deps)(input, cancellation);
      return null;
    }
    if (deps.secondFactor !== 'required') return register(deps)(input, cancellation);
    const pendingLogin = await registerPending(deps)(input, cancellation);
    return pendingLogin === null ? null : { pendingLogin };
  };

/** Finds the claimable account at the address of an invitation, if there is one. The invited user takes the account over, so the applicant gets its id. */
const withHolder = async ({ users }: Service, invitation: Invitation | null, { user, usernames }: Applicant) => {
  const found = invitation === null ? null : await users.findByEmail(invitation.email);
  if (found === null || !isClaimable(found)) return { holder: null, applicant: { user, usernames } };
  const { id, createdAt } = found;
  return { holder: found, applicant: { user: { ...user, id, createdAt }, usernames } };
};

/** Gives an unproven account to the invited user, and ends its ways in, as a first proof of the address does. */
const takeAccountOver = async (deps: Service, stores: Stores, user: User, origin: Origin): Promise<void> => {
  const { id, username, passwordHash, attributes, locale } = user;
  const locked = await stores.users.lock(id);
  if (locked?.email !== user.email || !isClaimable(locked)) throw duplicateUser('email', 'it was proven meanwhile');
  const locales = locale === null ? [] : [locale];
  await proveAddress(deps, stores, locked, { isPasswordShown: true, origin, locales });
  const now = deps.clock.now();
  await stores.users.setPasswordHash(id, { passwordHash, isOfNewPassword: true, now });
  await stores.users.update(id, { username, attributes, now });
};

type Registration = {
  readonly user: User;
  readonly holder: User | null;
  readonly invitation: Invitation | null;
  readonly identity: VerifiedIdentity | undefined;
  readonly origin: Origin;
  readonly cancellation: Cancellation;
};

/** Stores a registration in one transaction. @param complete stores what else belongs to the registration, in the same transaction. */
const storeRegistration = async (
  deps: Service,
  { user, holder, invitation, identity, origin, cancellation }: Registration,
  complete: (stores: Stores) => Promise<void>,
): Promise<void> => {
  const { transactions, emailVerification = 'off' } = deps;
  cancellation.throwIfAborted();
  try {
    await transactions.run(async (stores) => {
      if (invitation !== null) await useInvitation(deps, stores, invitation);
      const isProven = user.emailVerifiedAt !== null;
      await (holder === null ? stores.users.add(user) : takeAccountOver(deps, stores, user, origin));
      cancellation.throwIfAborted();
      if (!isProven) await assertNotReserved(deps, stores, user);
      await complete(stores);
      if (identity !== undefined) await storeIdentity(deps, stores, identity, user, origin);
      if (isProven && holder === null)
        await record(deps, stores, origin, [{ userId: user.id, kind: 'email-verified' }]);
      if (isProven || emailVerification === 'off') return;
      await enqueue(deps, stores, origin, [{ kind: 'email-verification', userId: user.id, to: user.email }]);
    });
    cancellation.throwIfAborted();
  } catch (error) {
    if (holder === null && !hasStoredNothing(error)) await undoRegistration(deps, user, invitation, origin);
    throw error;
  }
};

const hasStoredNothing = (error: unknown): boolean =>
  isTakenError(error) || (error instanceof AppError && error.code === 'AUTH_REGISTRATION_REFUSED');

/** Removes the user, and makes the invitation valid again, unless the address has a newer one. If that fails, too, the client still gets the first error. */
const undoRegistration = async (deps: Service, { id }: User, invitation: Invitation | null, origin: Origin) => {
  const { transactions, records, clock } = deps;
  try {
    await transactions.run((stores) => removeAccount(deps, stores, id, origin));
    if (invitation === null || (await findInvitation(records, { email: invitation.email }, clock.now())) !== null)
      return;
    await putInvitation(records, invitation);
  } catch {}
};
