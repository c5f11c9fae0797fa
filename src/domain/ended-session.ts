import type { AccountEvent, SessionEnding } from './event.ts';

/** Access tokens that other services are to refuse before they expire. */
export type Ended = {
  /** ULID. */
  readonly id: string;
  readonly at: number;
  /** A user whose tokens issued until `at` are meant, whatever their session; `null`: those of the session, or of everybody. */
  readonly userId: string | null;
  /** `null` beside a user of `null`: the tokens of everybody issued until `at`. */
  readonly sessionId: string | null;
  readonly reason: SessionEnding;
};

/** What events say of it. A session that expires has no live token. */
export const endedBy = (events: readonly AccountEvent[]): Ended[] =>
  events.flatMap(({ id, at, userId, sessionId, kind, reason: stated, actor }): Ended[] => {
    const reason = actor === null ? stated : 'operator';
    if (kind === 'session-ended' && sessionId !== null && reason !== null && stated !== 'expired')
      return [{ id, at, userId: null, sessionId, reason }];
    if (kind === 'disabled') return [{ id, at, userId, sessionId: null, reason: 'operator' }];
    if (kind === 'deleted') return [{ id, at, userId, sessionId: null, reason: reason ?? 'account-deleted' }];
    return [];
  });

/** What is listed one by one. With more, all tokens that were issued until the next one are refused: so the list is bounded. */
export const MOST_LISTED = 10_000;

const MINUTE = 60_000;

/**
 * Since when the list goes back: a minute more than a token lives, since clocks differ. In whole minutes, so that the lists of all instances agree,
 * and what leaves the list changes it once a minute.
 */
export const listedSince = (now: number, lifetime: number): number => {
  const since = now - lifetime - MINUTE;
  return since - (since % MINUTE);
};

/** Who has caused it: `initiating_entity` of OpenID CAEP 1.0 §2. */
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

/** @param ended the latest first, and one more than `MOST_LISTED` if there are more. @param lifetime in milliseconds. */
export const endedList = (ended: readonly Ended[], lifetime: number): EndedList => {
  const before = ended.find(
    ({ userId, sessionId }, place) => place === MOST_LISTED || (userId === null && sessionId === null),
  );
  const listed = ended.slice(0, MOST_LISTED);
  return {
    lifetime: Math.ceil(lifetime / 1_000),
    ...(before !== undefined && { before: seconds(before.at) }),
    sessions: listed.flatMap((each) => (each.sessionId === null ? [] : [{ sid: each.sessionId, ...entryOf(each) }])),
    users: listed.flatMap((each) => (each.userId === null ? [] : [{ sub: each.userId, ...entryOf(each) }])),
  };
};

type Claimed = { readonly sessionId: string; readonly claims: { readonly sub: string; readonly iat: number } };

export const onList = ({ before = -1, sessions, users }: EndedList): ((token: Claimed) => boolean) => {
  const ids = new Set(sessions.map(({ sid }) => sid));
  // The latest entry of a user counts: it comes first.
  const times = new Map(users.map(({ sub, event_timestamp: at }) => [sub, at] as const).toReversed());
  return ({ sessionId, claims: { sub, iat } }) => ids.has(sessionId) || iat <= Math.max(before, times.get(sub) ?? -1);
};

const seconds = (at: number): number => Math.floor(at / 1_000);

const entryOf = ({ at, reason }: Ended): Entry => ({
  event_timestamp: seconds(at),
  initiating_entity: INITIATORS[reason] ?? 'user',
  reason,
});
