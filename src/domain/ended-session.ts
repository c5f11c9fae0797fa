import type { EndedTokens, SessionEnding } from './event.ts';

/** The most entries of a list. If there are more, the list refuses all tokens that were issued until the latest entry that it leaves out. */
export const MAX_LISTED = 10_000;

const MINUTE = 60_000;

/** The time since which entries are listed: a token's lifetime and a minute ago, since clocks differ; a whole minute, so that instances rarely differ. */
export const listedSince = (now: number, lifetime: number): number => {
  const since = now - lifetime - MINUTE;
  return since - (since % MINUTE);
};

/** `initiating_entity` of OpenID CAEP 1.0 §2. */
type Initiator = 'user' | 'admin' | 'policy' | 'system';

const INITIATORS: Partial<Record<SessionEnding, Initiator>> = {
  operator: 'admin',
  evicted: 'policy',
  'token-replayed': 'policy',
};

/** Times in seconds since the epoch. */
type Entry = {
  readonly event_timestamp: number;
  readonly initiating_entity: Initiator;
  readonly reason: SessionEnding;
};

export type EndedList = {
  /** Seconds that an access token lives at most. */
  readonly lifetime: number;
  /** Every token with an `iat` of this second or earlier is refused. */
  readonly before?: number;
  /** Every token of these sessions is refused. */
  readonly sessions: readonly (Entry & { readonly sid: string })[];
  /** Every token of these users with an `iat` of `event_timestamp` or earlier is refused. */
  readonly users: readonly (Entry & { readonly sub: string })[];
};

/** @param ended the latest first, one more than `MAX_LISTED` at most. @param lifetime in milliseconds. */
export const endedList = (ended: readonly EndedTokens[], lifetime: number): EndedList => {
  const before = ended.find(
    ({ userId, sessionId }, place) => place === MAX_LISTED || (userId === null && sessionId === null),
  );
  const listed = ended.slice(0, MAX_LISTED);
  return {
    lifetime: Math.ceil(lifetime / 1_000),
    ...(before !== undefined && { before: inSeconds(before.at) }),
    sessions: listed.flatMap((each) => (each.sessionId === null ? [] : [{ sid: each.sessionId, ...entryOf(each) }])),
    users: listed.flatMap((each) => (each.userId === null ? [] : [{ sub: each.userId, ...entryOf(each) }])),
  };
};

type CheckedToken = { readonly sessionId: string; readonly claims: { readonly sub: string; readonly iat: number } };

export const listMatcher = ({ before = -1, sessions, users }: EndedList): ((token: CheckedToken) => boolean) => {
  const ids = new Set(sessions.map(({ sid }) => sid));
  // Of several entries of a user, the latest counts, which comes first in the list.
  const times = new Map(users.map(({ sub, event_timestamp: at }) => [sub, at] as const).toReversed());
  return ({ sessionId, claims: { sub, iat } }) => ids.has(sessionId) || iat <= Math.max(before, times.get(sub) ?? -1);
};

const inSeconds = (at: number): number => Math.floor(at / 1_000);

const entryOf = ({ at, reason }: EndedTokens): Entry => ({
  event_timestamp: inSeconds(at),
  initiating_entity: INITIATORS[reason] ?? 'user',
  reason,
});
