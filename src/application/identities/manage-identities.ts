import { FACTOR_CHANGE, missingStepUp } from '../../domain/assurance.ts';
import { AppError } from '../../domain/errors/app-error.ts';
import { NO_ORIGIN, type Origin } from '../../domain/event.ts';
import { addressOf, type Identity, type VerifiedIdentity } from '../../domain/identity.ts';
import { isTaken } from '../accounts/applicant.ts';
import { blockIdentities, removeIdentity } from '../accounts/end-ways.ts';
import { identityConflict, storeIdentity } from '../accounts/store-identity.ts';
import { notifyOfChange, recordChange } from '../notices.ts';
import { type Core, record, type Service } from '../service.ts';
import { type Caller, liveSession, liveUser, lockedFactorOwner } from '../sessions/current-user.ts';
import { findIdentity, identitiesOf, passkeysOf } from '../storage/factors.ts';
import type { Stores } from '../storage/stores.ts';

/** The identities of a user, the oldest first. */
export const listIdentities =
  (deps: Core & Stores) =>
  async (caller: Caller): Promise<Identity[]> => {
    const { id } = await liveUser(deps, caller);
    return identitiesOf(deps.records, id);
  };

/** The callback of a provider has no guard of a route, so the step-up is asked for here. */
const steppedUp = async (deps: Service, stores: Stores, caller: Caller) => {
  const user = await lockedFactorOwner(deps, stores, caller);
  const { session } = await liveSession({ sessions: stores.sessions, clock: deps.clock }, caller);
  const missing = missingStepUp(FACTOR_CHANGE, session, { isEnrolled: false, now: deps.clock.now() });
  if (missing !== null) throw new AppError('AUTH_STEP_UP_REQUIRED', { stepUp: missing });
  return { user, session };
};

/**
 * Links an identity to the user of a session, and again without effect. The address of the account is verified if the provider says so: its user
 * then has both, the account and the mailbox.
 */
export const linkIdentity =
  (deps: Service) =>
  (caller: Caller, identity: VerifiedIdentity, origin: Origin = NO_ORIGIN): Promise<Identity> => {
    const linked = deps.transactions.run(async (stores) => {
      const { user } = await steppedUp(deps, stores, caller);
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
      throw isTaken(error) ? linkedElsewhere() : error;
    });
  };

const linkedElsewhere = (): AppError =>
  identityConflict('linked to another user', 'You sign in to another account with it. Remove it there first.');

/**
 * Removes an identity, unless it is the only way in that the user is known to have. A password counts if this session has presented it: the hash may
 * be of one that nobody knows. A link for a new password is no way in: the user uses it first.
 * @throws AppError DB_RECORD_NOT_FOUND when the user has no such identity, even if another user has
 */
export const unlinkIdentity =
  (deps: Service) =>
  (caller: Caller, id: string, origin: Origin = NO_ORIGIN): Promise<void> =>
    deps.transactions.run(async (stores) => {
      const { user, session } = await steppedUp(deps, stores, caller);
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
