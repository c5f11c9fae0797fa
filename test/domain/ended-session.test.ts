import { describe, expect, it } from 'vitest';
import { endedList, listedSince, listMatcher, MAX_LISTED } from '../../src/domain/ended-session.ts';
import type { EndedTokens } from '../../src/domain/event.ts';
import { anEnded, NOW } from '../support/builders.ts';

const MINUTE = 60_000;
const SECOND = NOW / 1_000;

describe('the list of what has ended', () => {
  it('says of sessions and of users when, by whom and why', () => {
    const session = anEnded({ at: NOW + 1_999, reason: 'token-replayed' });
    const own = anEnded();
    const user = anEnded({ at: NOW - 1, userId: 'Ada', sessionId: null, reason: 'operator' });
    expect(endedList([session, own, user], 15 * MINUTE)).toStrictEqual({
      lifetime: 900,
      sessions: [
        { sid: session.sessionId, event_timestamp: SECOND + 1, initiating_entity: 'policy', reason: 'token-replayed' },
        { sid: own.sessionId, event_timestamp: SECOND, initiating_entity: 'user', reason: 'logout' },
      ],
      users: [{ sub: 'Ada', event_timestamp: SECOND - 1, initiating_entity: 'admin', reason: 'operator' }],
    });
  });

  const everybody = (at: number): EndedTokens => anEnded({ at, sessionId: null, reason: 'operator' });
  const many = Array.from({ length: MAX_LISTED }, (_, at) => anEnded({ at: NOW + MINUTE - at }));
  it.each([
    ['the sessions of all were ended', [anEnded(), everybody(NOW + 1_000), everybody(NOW)], SECOND + 1],
    ['more ended than are listed one by one', [...many, anEnded({ at: NOW + 5_000 }), anEnded()], SECOND + 5],
    ['both, that first', [everybody(NOW + 2 * MINUTE), ...many, anEnded()], SECOND + 120],
    ['no more ended than are listed', many, undefined],
  ])('refuses all tokens that were issued until then, when %s', (_when, ended, before) => {
    const list = endedList(ended, MINUTE);
    expect(list.before).toBe(before);
    expect(list.sessions.length).toBeLessThanOrEqual(MAX_LISTED);
  });

  it('goes back a minute more than a token lives, in whole minutes', () => {
    for (const [now, since] of [
      [NOW, NOW - 16 * MINUTE],
      [NOW + MINUTE - 1, NOW - 16 * MINUTE],
      [NOW + MINUTE, NOW - 15 * MINUTE],
    ] as const)
      expect(listedSince(now, 15 * MINUTE)).toBe(since);
  });

  it('has the tokens of its sessions, and of its users and all until then', () => {
    const session = anEnded();
    const [later, earlier] = [NOW + 5_000, NOW].map((at) => anEnded({ at, userId: 'Ada', sessionId: null }));
    const token = (sessionId: string, sub: string, iat: number) => ({ sessionId, claims: { sub, iat } });
    const has = listMatcher(
      endedList(
        [later, session, earlier].flatMap((each) => each ?? []),
        MINUTE,
      ),
    );
    expect(has(token(`${session.sessionId}`, 'Grace', SECOND + 9))).toBe(true);
    expect(has(token('another', 'Ada', SECOND + 5))).toBe(true);
    expect(has(token('another', 'Ada', SECOND + 6))).toBe(false);
    expect(has(token('another', 'Grace', 0))).toBe(false);
    const hasAll = listMatcher(endedList([everybody(NOW)], MINUTE));
    expect([SECOND, SECOND + 1].map((iat) => hasAll(token('another', 'Grace', iat)))).toEqual([true, false]);
  });
});
