import { AppError } from '../../domain/errors/app-error.ts';
import { type DomainEvent, NO_ORIGIN, type Origin, type SessionEnding } from '../../domain/event.ts';
import type { Session, SessionKey } from '../../domain/session.ts';
import { notifyOfReplay } from '../notices.ts';
import type { RefreshToken } from '../ports/token-signer.ts';
import { type Core, record, type Service, type Sources } from '../service.ts';
import type { Stores } from '../storage/records.ts';
import { forgetDevice, forgetDevices } from './remember-device.ts';
import { assessTokens, reusedSessions, verifiedTokens } from './tokens.ts';

export const sessionEvents = (
  userId: string,
  ids: readonly string[],
  reason: SessionEnding,
  note: string | null = null,
): DomainEvent[] => ids.map((sessionId) => ({ userId, kind: 'session-ended', sessionId, reason, note }));

/** With what an operator says about it to the user. */
export type Ending = {
  readonly reason: SessionEnding;
  readonly origin: Origin;
  readonly note?: string | null;
  /** Whether services that verify access tokens are told of each session. Default: they are. */
  readonly isListed?: boolean;
};

export const endSession = async (
  deps: Sources,
  stores: Stores,
  key: SessionKey,
  { reason, origin, note, isListed }: Ending,
): Promise<boolean> => {
  const ended = await stores.sessions.end(key);
  if (ended) await record(deps, stores, origin, sessionEvents(key.userId, [key.id], reason, note), isListed);
  return ended;
};

/** Ends one session of a user, or forgets one remembered device. @throws AppError DB_RECORD_NOT_FOUND */
export const endSessionOrDevice = async (deps: Sources, stores: Stores, key: SessionKey, ending: Ending) => {
  if ((await endSession(deps, stores, key, ending)) || (await forgetDevice(deps, stores, key, ending))) return;
  throw new AppError('DB_RECORD_NOT_FOUND', { reason: 'the user has no such session' });
};

/**
 * Locks a user, ends their sessions, and forgets their remembered devices. A concurrent log-in has stored its session before, or waits.
 * @returns how many sessions.
 */
export const endSessionsOf = async (
  deps: Sources,
  stores: Stores,
  userId: string,
  { reason, origin, note, exceptId }: Ending & { readonly exceptId?: string },
): Promise<number> => {
  await stores.users.lock(userId);
  const ended = await stores.sessions.endByUser(userId, ({ id }) => id !== exceptId);
  await record(deps, stores, origin, sessionEvents(userId, ended, reason, note));
  await forgetDevices(deps, stores, userId, { reason, origin });
  return ended.length;
};

type PresentedTokens = {
  readonly userId: string;
  readonly verified: readonly RefreshToken[];
  readonly origin: Origin;
  /** The reason for sessions whose tokens were not reused. */
  readonly reason: SessionEnding;
};

/**
 * Ends the sessions whose tokens a device presents when it logs out or gets a new session. Afterwards its browser no longer has these
 * tokens, and none could show that one was reused. So such a session ends as `token-replayed`, and its user is notified. The caller has locked
 * the user.
 */
export const endPresentedSessions = async (
  deps: Service,
  stores: Stores,
  { userId, verified, origin, reason }: PresentedTokens,
): Promise<void> => {
  const own = verified.filter(({ claims }) => claims.sub === userId);
  const assessed = await assessTokens({ ...deps, sessions: stores.sessions }, own);
  const live = new Set(assessed.filter(({ status }) => status !== 'ended').map(({ token }) => token.sessionId));
  const reused = reusedSessions(assessed);
  await endReplayed(deps, stores, userId, reused, origin);
  for (const { id } of reused) live.delete(id);
  const current = new Set(assessed.filter(({ status }) => status === 'current').map(({ token }) => token.sessionId));
  // A log-in takes the tokens from the only browser that has them: whole offices log in at once, and would fill the list.
  const isListed = (id: string) => reason !== 'replaced' || !current.has(id);
  for (const id of live) await endSession(deps, stores, { id, userId }, { reason, origin, isListed: isListed(id) });
};

/** Ends the sessions of reused tokens, in a transaction that has locked their user, and notifies the user. */
export const endReplayed = async (
  deps: Core,
  stores: Stores,
  userId: string,
  sessions: readonly Session[],
  origin: Origin,
) => {
  const ended: Session[] = [];
  for (const session of sessions)
    if (await endSession(deps, stores, session, { reason: 'token-replayed', origin })) ended.push(session);
  await notifyOfReplay(deps, stores, userId, ended, origin);
};

/** Ends the session of every presented refresh token that verifies, and ignores the others. */
export const logout =
  (deps: Service) =>
  async (presented: readonly string[], origin = NO_ORIGIN): Promise<void> => {
    const verified = await verifiedTokens(deps, presented);
    const userIds = new Set(verified.map(({ claims }) => claims.sub));
    // A transaction for each user: two transactions that lock two users could deadlock.
    for (const userId of userIds) {
      await deps.transactions.run(async (stores) => {
        await stores.users.lock(userId);
        await endPresentedSessions(deps, stores, { userId, verified, origin, reason: 'logout' });
      });
    }
  };
