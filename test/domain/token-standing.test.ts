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

  const token = (jti: string, issuedAt = START) => ({ jti, iat: Math.floor(issuedAt / 1_000) });

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
    expect(tokenStanding(session, token(tokenId), rotation + age, policy)).toBe(standing);
  });

  describe('of a token that the session has forgotten', () => {
    /** Of a run that began at START, with the last rotations a second apart. */
    const full: Session = {
      ...session,
      earlierTokens: [
        ...Array.from({ length: 15 }, (_, back) => ({ tokenId: `e${back}`, rotatedAt: rotation - back - 1 })),
        { tokenId: 't0', rotatedAt: START },
      ],
    };
    /** The last rotation at which it may have been forgotten. */
    const next = rotation - 15;

    it.each([
      ['a race for two windows after it was issued, and the second that `iat` leaves out', 20_999, 'raced'],
      ['a theft after that', 21_000, 'reused'],
    ])('is %s', (_, age, standing) => {
      const issuedAt = rotation - 12_000;
      expect(tokenStanding(full, token('x', issuedAt), issuedAt + age, strict)).toBe(standing);
    });

    it.each([
      ['a race for a window after the oldest rotation that is remembered, but for the first', 10_000, strict, 'raced'],
      ['a theft after that', 10_001, strict, 'reused'],
      ['a race and no more, with a replay window', 0, kind, 'raced'],
    ])('is %s', (_, age, policy, standing) => {
      expect(tokenStanding(full, token('x', rotation - 2_000), next + age, policy)).toBe(standing);
    });

    it('is a theft when none can have been forgotten', () => {
      const oneLess = { ...full, earlierTokens: full.earlierTokens.slice(1) };
      expect(tokenStanding(oneLess, token('x', rotation), rotation, strict)).toBe('reused');
    });
  });

  it('is `ended` for every token of a session that has expired or was ended', () => {
    for (const tokenId of ['t1', 't3', 't4']) {
      expect(tokenStanding(null, token(tokenId), rotation, kind)).toBe('ended');
      expect(tokenStanding(session, token(tokenId), session.expiresAt, kind)).toBe('ended');
    }
  });

  it('treats the first token as one without a predecessor, which may be rotated at once', () => {
    expect(tokenStanding(SESSION, token('t0'), START, kind)).toBe('reused');
    expect(tokenStanding(SESSION, token('t1'), START, kind)).toBe('current');
  });
});
