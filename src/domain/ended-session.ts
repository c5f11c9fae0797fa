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
