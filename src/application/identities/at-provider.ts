import { FACTOR_CHANGE } from '../../domain/assurance.ts';
import { AppError } from '../../domain/errors/app-error.ts';
import { NO_ORIGIN, type Origin } from '../../domain/event.ts';
import { addressOf, type Identity, isIdentityKey, type VerifiedIdentity } from '../../domain/identity.ts';
import { isTakenError } from '../accounts/applicant.ts';
import {
  blockIdentities,
  identityConflict,
  isBlocked,
  NOT_LINKED,
  removeIdentity,
  storeIdentity,
} from '../linked-identities.ts';
import type { LoginResult } from '../login/pending-login.ts';
import { notifyOfChange, recordChange } from '../notices.ts';
import type { IdentityProvider, SignInSecrets } from '../ports/identity-providers.ts';
import { type Cancellation, type Core, NEVER_CANCELLED, record, type Service, unsealTexts } from '../service.ts';
import { type Caller, liveSession, liveUser, lockedFactorOwner, requireStepUp } from '../sessions/current-user.ts';
import type { OpenedSession } from '../sessions/open-session.ts';
import { findIdentity, identitiesOf, passkeysOf, useOnce } from '../storage/credentials.ts';
import type { Stores } from '../storage/records.ts';
import { type SignIn, signIn } from './sign-in.ts';

/** Milliseconds in which a user has to come back from the provider, and in which a later log-in links a kept identity. */
export const START_LIFETIME = 10 * 60_000;

/** The purpose of a sign-in. The browser keeps it encrypted, in no URL, while the user is at the provider. */
export type SignInPurpose = Pick<SignIn, 'invitation' | 'extra'> & {
  readonly provider: string;
  readonly locale?: string | undefined;
  /** The user who links an identity. Without a caller, the sign-in is a log-in. */
  readonly caller?: Caller | undefined;
  /** The URLs to which the browser goes after a success, and after an error. */
  readonly to?: string | undefined;
  readonly errorTo?: string | undefined;
};

export type SignInStart = SignInPurpose & { readonly secrets: SignInSecrets; readonly startedAt: number };

/** The kinds of texts that the browser keeps encrypted. */
const START_KIND = 'sign-in';
const KEPT_KIND = 'kept-identity';

export const providerOf = ({ providers }: Service, name: string): IdentityProvider => {
  const provider = providers.get(name);
  if (provider === undefined) throw new AppError('DB_RECORD_NOT_FOUND', { reason: 'no provider has this name' });
  return provider;
};

/** Begins a sign-in. @param mustReauthenticate as in `IdentityProvider`. @returns the provider's URL, the state, and a text that the browser keeps. */
export const startAtProvider = (deps: Service) => async (purpose: SignInPurpose, mustReauthenticate: boolean) => {
  const { secrets, clock } = deps;
  const [state, nonce, verifier] = [secrets.random(), secrets.random(), secrets.random()];
  const url = await providerOf(deps, purpose.provider).begin({ state, nonce, verifier }, mustReauthenticate);
  const start: SignInStart = { ...purpose, secrets: { state, nonce, verifier }, startedAt: clock.now() };
  return { url, state, sealed: secrets.encrypt(JSON.stringify([START_KIND, start]), start.startedAt + START_LIFETIME) };
};

/** The sign-ins that a browser has begun. @param texts as the browser presents them. */
export const openSignInStarts = (deps: Service, texts: readonly string[]) =>
  unsealTexts<[SignInStart]>(deps, texts, START_KIND).flat();

export const unprovenIdentity = (reason: string): AppError => new AppError('AUTH_IDENTITY_UNPROVEN', { reason });

/**
 * Finishes a sign-in: links the identity that the provider states, or logs in with it. A second call for the same sign-in fails.
 * @param answer the query of the callback.
 * @returns the log-in; `null` if the identity was linked; or `kept`, the encrypted identity for `linkKeptIdentities`, if it was refused as `NOT_LINKED`.
 */
export const finishAtProvider = (deps: Service) => {
  const [link, logIn] = [linkIdentity(deps), signIn(deps)];
  return async (
    { provider, secrets, startedAt, caller, invitation, extra }: SignInStart,
    answer: string,
    device: Omit<SignIn, 'identity' | 'invitation' | 'extra'>,
    cancellation: Cancellation = NEVER_CANCELLED,
  ): Promise<LoginResult | { readonly kept: string } | null> => {
    const use = `sign-in ${deps.secrets.hashOf(secrets.state)}`;
    if (!(await useOnce(deps.records, use, startedAt + START_LIFETIME)))
      throw unprovenIdentity('the sign-in has come back before');
    const identity = await providerOf(deps, provider).complete(secrets, answer);
    if (!isIdentityKey(identity)) throw unprovenIdentity('the issuer or the subject has another form');
    cancellation.throwIfAborted();
    if (caller === undefined)
      return logIn({ ...device, identity, invitation, extra }, cancellation).catch(async (error: unknown) => {
        if (!(error instanceof AppError) || error.reason !== NOT_LINKED) throw error;
        const user = await deps.users.findByEmail(addressOf(identity) ?? '');
        const text = JSON.stringify([KEPT_KIND, identity, user?.id, user?.passwordChangedAt]);
        return { kept: deps.secrets.encrypt(text, deps.clock.now() + START_LIFETIME) };
      });
    await link(caller, identity, device.origin);
    return null;
  };
};

/**
 * Links the identities that a browser has kept to the account of its log-in, if that is the account with their address, and it still has the same password.
 * An identity that was removed from the account, or is refused, is ignored.
 * @param texts as the browser presents them.
 */
export const linkKeptIdentities = (deps: Service) => {
  const link = linkIdentity(deps);
  return async (texts: readonly string[], { user: { id: userId }, sessionId }: OpenedSession, origin: Origin) => {
    const sealed = unsealTexts<[VerifiedIdentity, string?, number?]>(deps, texts, KEPT_KIND);
    for (const [kept, ownerId, passwordChangedAt] of sealed) {
      const user = await deps.users.findById(userId);
      const isSame = userId === ownerId && user?.passwordChangedAt === passwordChangedAt;
      if (!isSame || addressOf(kept) !== user?.email || isBlocked(deps, user, kept)) continue;
      await link({ userId, sessionId }, kept, origin).catch((error: unknown) => {
        if (!(error instanceof AppError) || error.status >= 500) throw error;
      });
    }
  };
};

export const listIdentities = (deps: Core & Stores) => async (caller: Caller) => {
  const { id } = await liveUser(deps, caller);
  return identitiesOf(deps.records, id);
};

/** Locks a user, and checks the step-up of the session, since no guard has checked it for the callback of a provider. */
const lockedSteppedUp = async (deps: Service, stores: Stores, caller: Caller) => {
  const user = await lockedFactorOwner(deps, stores, caller);
  const found = await liveSession({ sessions: stores.sessions, clock: deps.clock }, caller);
  requireStepUp(deps, FACTOR_CHANGE, found, false);
  return { user, session: found.session };
};

/**
 * Links an identity to the user of a session; a second time has no effect. If the provider has verified the address of the account, the address counts as
 * proven: the user has both the account and the mailbox.
 */
export const linkIdentity =
  (deps: Service) =>
  (caller: Caller, identity: VerifiedIdentity, origin: Origin = NO_ORIGIN): Promise<Identity> => {
    const linked = deps.transactions.run(async (stores) => {
      const { user } = await lockedSteppedUp(deps, stores, caller);
      const found = await findIdentity(stores.records, identity);
      if (found !== null && found.userId !== user.id) throw linkedElsewhere();
      if (found !== null) return found;
      const added = await storeIdentity(deps, stores, identity, user, origin);
      await blockIdentities(deps, stores, user.id, [identity], false);
      if (user.emailVerifiedAt === null && identity.isEmailVerified && addressOf(identity) === user.email) {
        await stores.users.update(user.id, { emailVerifiedAt: added.createdAt, now: added.createdAt });
        await record(deps, stores, origin, [{ userId: user.id, kind: 'email-verified' }]);
      }
      await notifyOfChange(deps, stores, { kind: 'identity-linked', user, origin, added: [added.id] });
      return added;
    });
    return linked.catch((error: unknown) => {
      throw isTakenError(error) ? linkedElsewhere() : error;
    });
  };

const linkedElsewhere = (): AppError =>
  identityConflict('linked to another user', 'You sign in to another account with it. Remove it there first.');

/**
 * Removes an identity, unless it is the only way into the account. A password counts only if the user has presented it in this session: the user may not
 * know the stored one.
 */
export const unlinkIdentity =
  (deps: Service) =>
  (caller: Caller, id: string, origin: Origin = NO_ORIGIN): Promise<void> =>
    deps.transactions.run(async (stores) => {
      const { user, session } = await lockedSteppedUp(deps, stores, caller);
      const { id: userId } = user;
      await removeIdentity(deps, stores, { id, userId });
      const hasWayIn =
        session.amr.includes('pwd') ||
        (deps.loginByCode === true && user.emailVerifiedAt !== null) ||
        (await passkeysOf(stores.records, userId)).length > 0 ||
        (await identitiesOf(stores.records, userId)).length > 0;
      if (!hasWayIn)
        throw identityConflict(
          'the last way in',
          'This is the only way into the account. Log in with a password first, or add a passkey.',
        );
      const { sessionId } = caller;
      await recordChange(deps, stores, { kind: 'identity-unlinked', user, sessionId, origin, added: [] });
    });
