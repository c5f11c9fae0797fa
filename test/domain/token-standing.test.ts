import { describe, expect, it } from 'vitest';
import { newSession, type Session } from '../../src/domain/session.ts';
import { tokenStanding } from '../../src/domain/token-standing.ts';

const START = Date.UTC(2026, 0, 1);
const SESSION = newSession({
  id: 's1',
  userId: 'u1',
  tokenId: 't1',
  now: START,
  lifetime: 604_800_000,
  device: { userAgent: null, address: null },
});

describe('tokenStanding', () => {
  const rotation = START + 60_000;
  /** `t2` was rotated 4 s before `t3`. */
  const session: Session = {
    ...SESSION,
    currentTokenId: 't4',
    previousTokenId: 't3',
    rotatedAt: rotation,
    earlierTokens: [{ tokenId: 't2', rotatedAt: rotation - 4_000 }],
  };
  const strict = { raceWindow: 10_000, replayWindow: 0 };
  const kind = { raceWindow: 10_000, replayWindow: 5_000 };

  // Proves: state-11
  it.each([
    ['the current token', 't4', 0, strict, 'current'],
    ['the current token long after', 't4', 86_400_000, strict, 'current'],
    ['the predecessor at once', 't3', 0, strict, 'raced'],
    ['the predecessor at the end of the race window', 't3', 10_000, strict, 'raced'],
    ['the predecessor past the race window', 't3', 10_001, strict, 'reused'],
    ['the predecessor by a clock that is behind', 't3', -5_000, strict, 'raced'],
    ['an earlier token at once', 't2', 0, strict, 'raced'],
    ['an earlier token at the end of its own race window', 't2', 6_000, strict, 'raced'],
    ['an earlier token past its own race window', 't2', 6_001, strict, 'reused'],
    ['a token that is forgotten', 't1', 0, strict, 'reused'],
    ['a token that is forgotten, with a replay window', 't1', 0, kind, 'reused'],
    ['the predecessor by a clock that is behind, with a replay window', 't3', -5_000, kind, 'replayable'],
    ['the predecessor at once, with a replay window', 't3', 0, kind, 'replayable'],
    ['the predecessor in the last millisecond of the replay window', 't3', 4_999, kind, 'replayable'],
    ['the predecessor at the end of the replay window', 't3', 5_000, kind, 'raced'],
    ['the predecessor past both windows', 't3', 10_001, kind, 'reused'],
    ['an earlier token in the last millisecond of its own replay window', 't2', 999, kind, 'replayable'],
    ['an earlier token at the end of its own replay window', 't2', 1_000, kind, 'raced'],
    ['the current token within the replay window of its rotation', 't4', 4_999, kind, 'replayable'],
    ['the current token at the end of that window', 't4', 5_000, kind, 'current'],
  ])('returns the standing of %s', (_, tokenId, age, policy, standing) => {
    expect(tokenStanding(session, tokenId, rotation + age, policy)).toBe(standing);
  });

  it.each([
    ['a race while that could have been dropped within the window', 10_000, strict, 'raced'],
    ['a theft after it', 10_001, strict, 'reused'],
    ['never more than a race, with a replay window', 0, kind, 'raced'],
  ])('treats a token that a full list does not contain as %s', (_, age, policy, standing) => {
    const last = rotation - 15;
    const earlierTokens = Array.from({ length: 16 }, (_none, back) => ({
      tokenId: `e${back}`,
      rotatedAt: rotation - back,
    }));
    expect(tokenStanding({ ...session, earlierTokens }, 't1', last + age, policy)).toBe(standing);
    const oneLess = { ...session, earlierTokens: earlierTokens.slice(1) };
    expect(tokenStanding(oneLess, 't1', last, policy)).toBe('reused');
  });

  it('is `ended` for every token of a session that has expired or was ended', () => {
    for (const tokenId of ['t1', 't3', 't4']) {
      expect(tokenStanding(null, tokenId, rotation, kind)).toBe('ended');
      expect(tokenStanding(session, tokenId, session.expiresAt, kind)).toBe('ended');
    }
  });

  it('treats the first token as one without a predecessor, which may be rotated at once', () => {
    expect(tokenStanding(SESSION, 't0', START, kind)).toBe('reused');
    expect(tokenStanding(SESSION, 't1', START, kind)).toBe('current');
  });
});
