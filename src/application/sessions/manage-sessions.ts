import { bindingOf, NO_PROOF_REQUIRED, needsProof, noEvidence } from '../../domain/device.ts';
import { AppError } from '../../domain/errors/app-error.ts';
import { NO_ORIGIN, type Origin } from '../../domain/event.ts';
import type { SessionKey } from '../../domain/session.ts';
import { isRefreshable } from '../../domain/tokens.ts';
import { isUsualLogin, notifyOfLogin } from '../notices.ts';
import type { RefreshToken } from '../ports/token-signer.ts';
import { type Core, NEVER_CANCELLED, pick, type Service } from '../service.ts';
import { devicesOf } from '../storage/credentials.ts';
import type { Stores } from '../storage/records.ts';
import { type Caller, liveUser, lockedLiveUser } from './current-user.ts';
import { endSessionOrDevice, endSessionsOf } from './end-sessions.ts';
import { replaceSession, runReplacing } from './open-session.ts';
import { assessTokens, hookClaimsFor, mostFavorable, type TokenPair, verifiedTokens } from './tokens.ts';

/** The live sessions of a user, the most recently used first, and then the remembered devices, the latest first. */
export const listSessions = (deps: Service) => async (caller: Caller) => {
  const { id: userId } = await liveUser(deps, caller);
  const now = deps.clock.now();
  const [sessions, devices] = await Promise.all([
    deps.sessions.listByUser(userId, now),
    devicesOf(deps.records, userId, now),
  ]);
  const live = sessions.map((session) => ({
    ...pick(session, 'id', 'createdAt', 'userAgent', 'address'),
    lastUsedAt: session.rotatedAt,
    binding: bindingOf(session),
    current: session.id === caller.sessionId,
    remembered: false,
  }));
  const remembered = devices
    .toReversed()
    .map((device) => ({
      ...pick(device, 'id', 'createdAt', 'userAgent', 'address'),
      lastUsedAt: device.createdAt,
      ...{ binding: 'none' as const, current: false, remembered: true },
    }));
  return [...live, ...remembered];
};

export const endOwnSession =
  (deps: Core) =>
  async (caller: Caller, id: string, origin = NO_ORIGIN): Promise<void> => {
    await deps.transactions.run(async (stores) => {
      const { id: userId } = await lockedLiveUser(deps, stores, caller);
      await endSessionOrDevice(deps, stores, { id, userId }, { reason: 'ended-by-user', origin });
    });
  };

export const endAllSessions =
  (deps: Core) =>
  async (caller: Caller, origin = NO_ORIGIN): Promise<void> => {
    await deps.transactions.run(async (stores) => {
      const { id: userId } = await lockedLiveUser(deps, stores, caller);
      await endSessionsOf(deps, stores, userId, { reason: 'all-ended', origin });
    });
  };

type EndOtherSessionsInput = Caller & { readonly presented: readonly string[]; readonly origin?: Origin };

/**
 * Ends the other sessions of a user, forgets all devices, and replaces the caller's session. For a new session, the refresh token is
 * needed, since other services also know the access token.
 * @returns `null` if the session needs a proof of its key: it stays, so that a thief with both tokens gets no session.
 */
export const endOtherSessions =
  (deps: Service) =>
  async (
    { userId, sessionId, presented, origin = NO_ORIGIN }: EndOtherSessionsInput,
    cancellation = NEVER_CANCELLED,
  ): Promise<TokenPair | null> => {
    const key = { id: sessionId, userId };
    const verified = await verifiedTokens(deps, presented);
    const hookClaims = await hookClaimsFor(deps, key);
    cancellation.throwIfAborted();
    return runReplacing(deps, userId, cancellation, async (stores) => {
      const user = await lockedLiveUser(deps, stores, { userId, sessionId });
      await endSessionsOf(deps, stores, userId, { reason: 'all-ended', origin, exceptId: sessionId });
      const session = await stores.sessions.find(key);
      if (session !== null && needsProof(session, noEvidence(deps.deviceBinding))) return null;
      await assertHasToken(deps, stores, verified, key);
      // A thief with a copied cookie can end the owner's session here, and no replay would show that. So a new device causes a notice, as at a log-in.
      if (!(await isUsualLogin(deps, stores, user, origin)))
        await notifyOfLogin(deps, stores, { user, sessionId, origin });
      return replaceSession(deps, stores, { user, sessionId, origin, hookClaims });
    });
  };

const assertHasToken = async (deps: Service, stores: Stores, verified: readonly RefreshToken[], key: SessionKey) => {
  const own = verified.filter(({ sessionId }) => sessionId === key.id);
  const assessed = await assessTokens({ ...deps, sessions: stores.sessions }, own, NO_PROOF_REQUIRED);
  const status = assessed.length === 0 ? null : mostFavorable(assessed).status;
  if (status === null || !isRefreshable(status))
    throw new AppError('AUTH_FAILED', { reason: `the refresh token of the session: ${status ?? 'none'}` });
};
