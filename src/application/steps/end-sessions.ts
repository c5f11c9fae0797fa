import type { Origin, SessionEnding } from '../../domain/event.ts';
import type { SessionKey } from '../../domain/session.ts';
import type { RefreshToken } from '../ports/token-signer.ts';
import type { Stores } from '../ports/unit-of-work.ts';
import { type AssessTokensDeps, assessTokens, reusedSessions } from './assess-tokens.ts';
import { type NoticeDeps, noticeOfReplay } from './notices.ts';
import { endings, type RecordDeps, record } from './record.ts';

/** Why sessions end, and what caused it. */
export type Ending = { readonly reason: SessionEnding; readonly origin: Origin };

/** Ends one session. @returns whether there was such a session. */
export const endSession = async (
  deps: RecordDeps,
  stores: Pick<Stores, 'sessions' | 'events'>,
  key: SessionKey,
  { reason, origin }: Ending,
): Promise<boolean> => {
  const ended = await stores.sessions.end(key);
  if (ended) await record(deps, stores, origin, endings(key.userId, [key.id], reason));
  return ended;
};

/**
 * Ends the sessions of a user, who is locked from then on: a log-in that is under way has either stored its session before, which ends,
 * or waits for the lock, and then sees what the unit of work has changed.
 * @param exceptId the session that stays open; `null` to end all. @returns how many.
 */
export const endSessionsOf = async (
  deps: RecordDeps,
  stores: Pick<Stores, 'users' | 'sessions' | 'events'>,
  { userId, exceptId }: { readonly userId: string; readonly exceptId: string | null },
  { reason, origin }: Ending,
): Promise<number> => {
  await stores.users.lock(userId);
  const ended = await stores.sessions.endByUser(userId, exceptId);
  await record(deps, stores, origin, endings(userId, ended, reason));
  return ended.length;
};

type Presented = {
  /** Sessions of other users stay open. */
  readonly userId: string;
  /** The genuine refresh tokens of the request. */
  readonly genuine: readonly RefreshToken[];
  readonly origin: Origin;
  /** Why those sessions end whose tokens were not reused. */
  readonly reason: SessionEnding;
};

export type EndPresentedDeps = NoticeDeps & Omit<AssessTokensDeps, 'sessions'>;

/**
 * Ends the sessions of a user whose tokens a device presents while it logs out, or gets those of another session. Its browser forgets them,
 * and with them a reused token, the only sign that somebody has a copy: such a session ends as a replay, and its user is told. The user is
 * locked first, as by all that end several sessions: in the order of a request, two of them would wait for each other.
 */
export const endPresentedSessions = async (
  deps: EndPresentedDeps,
  stores: Pick<Stores, 'users' | 'sessions' | 'events' | 'outbox'>,
  { userId, genuine, origin, reason }: Presented,
): Promise<void> => {
  await stores.users.lock(userId);
  const own = genuine.filter(({ claims }) => claims.sub === userId);
  const assessed = await assessTokens({ ...deps, sessions: stores.sessions }, own);
  const reused = reusedSessions(assessed).map(({ id }) => id);
  const ids = new Set(assessed.filter(({ standing }) => standing !== 'ended').map(({ token }) => token.sessionId));
  let isReplayed = false;
  for (const id of ids) {
    const isReused = reused.includes(id);
    const ending = { reason: isReused ? 'token-replayed' : reason, origin } as const;
    const ended = await endSession(deps, stores, { id, userId }, ending);
    isReplayed ||= ended && isReused;
  }
  if (isReplayed) await noticeOfReplay(deps, stores, userId, origin);
};
