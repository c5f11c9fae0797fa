import { describe, expect, it } from 'vitest';
import {
  isLive,
  newSession,
  type Rotation,
  reverted,
  rotated,
  type Session,
  tokenStanding,
} from '../../src/domain/session.ts';

const START = Date.UTC(2026, 0, 1);
const LIFETIME = 604_800_000;
const DEVICE = { userAgent: 'a browser', address: '203.0.113.0/24' };
const SESSION = newSession({ id: 's1', userId: 'u1', tokenId: 't1', now: START, lifetime: LIFETIME, device: DEVICE });

const at = (time: number, step: Partial<Rotation> = {}): Rotation => ({
  sessionId: 's1',
  userId: 'u1',
  from: 't1',
  to: 't2',
  at: time,
  expiresAt: time + LIFETIME,
  ...step,
});

describe('newSession', () => {
  it('begins with its first token, which has no predecessor', () => {
    expect(SESSION).toEqual({
      id: 's1',
      userId: 'u1',
      currentTokenId: 't1',
      previousTokenId: null,
      rotatedAt: START,
      createdAt: START,
      expiresAt: START + LIFETIME,
      ...DEVICE,
    });
  });
});

describe('isLive', () => {
  it('is true up to the last millisecond before the session expires', () => {
    expect(isLive(SESSION, SESSION.expiresAt - 1)).toBe(true);
    expect(isLive(SESSION, SESSION.expiresAt)).toBe(false);
  });
});

describe('rotated', () => {
  it('moves on to the next token and moves the end of the session', () => {
    const time = START + 1_000;
    expect(rotated(SESSION, at(time))).toEqual({
      ...SESSION,
      currentTokenId: 't2',
      previousTokenId: 't1',
      rotatedAt: time,
      expiresAt: time + LIFETIME,
    });
  });

  it('is not possible from a token that is not current', () => {
    expect(rotated(SESSION, at(START, { from: 't0' }))).toBeNull();
    const next = rotated(SESSION, at(START)) as Session;
    expect(rotated(next, at(START, { to: 't3' }))).toBeNull();
    expect(rotated(next, at(START, { from: 't2', to: 't3' }))).toMatchObject({
      currentTokenId: 't3',
      previousTokenId: 't2',
    });
  });

  it('is not possible once the session is over', () => {
    expect(rotated(SESSION, at(SESSION.expiresAt - 1))).not.toBeNull();
    expect(rotated(SESSION, at(SESSION.expiresAt))).toBeNull();
  });
});

describe('reverted', () => {
  it('makes the token current again that was used up, without a predecessor', () => {
    const before: Session = { ...SESSION, previousTokenId: 't0' };
    const step = at(START + 1_000);
    const after = rotated(before, step) as Session;
    expect(reverted(after, step)).toEqual({ ...after, currentTokenId: 't1', previousTokenId: null });
  });

  it('is not possible of a step that is not the last one', () => {
    const step = at(START + 1_000);
    expect(reverted(SESSION, step)).toBeNull();
    const after = rotated(SESSION, step) as Session;
    const later = rotated(after, at(START + 2_000, { from: 't2', to: 't3' })) as Session;
    expect(reverted(later, step)).toBeNull();
  });
});

describe('tokenStanding', () => {
  const rotation = START + 60_000;
  const session: Session = { ...SESSION, currentTokenId: 't3', previousTokenId: 't2', rotatedAt: rotation };
  const strict = { raceWindow: 10_000, replayWindow: 0 };
  const kind = { raceWindow: 10_000, replayWindow: 5_000 };

  it.each([
    ['the current token', 't3', 0, strict, 'current'],
    ['the current token long after', 't3', 86_400_000, strict, 'current'],
    ['the predecessor at once', 't2', 0, strict, 'raced'],
    ['the predecessor at the end of the race window', 't2', 10_000, strict, 'raced'],
    ['the predecessor past the race window', 't2', 10_001, strict, 'reused'],
    ['the predecessor by a clock that is behind', 't2', -5_000, strict, 'raced'],
    ['the predecessor by a clock that is behind, with a replay window', 't2', -5_000, kind, 'replayable'],
    ['a token further back', 't1', 0, strict, 'reused'],
    ['a token further back within the replay window', 't1', 0, kind, 'reused'],
    ['the predecessor at once, with a replay window', 't2', 0, kind, 'replayable'],
    ['the predecessor in the last millisecond of the replay window', 't2', 4_999, kind, 'replayable'],
    ['the predecessor at the end of the replay window', 't2', 5_000, kind, 'raced'],
    ['the predecessor past both windows', 't2', 10_001, kind, 'reused'],
  ])('judges %s', (_, tokenId, age, policy, standing) => {
    expect(tokenStanding(session, tokenId, rotation + age, policy)).toBe(standing);
  });

  it('says of every token of a session that is over or gone that it is over', () => {
    for (const tokenId of ['t1', 't2', 't3']) {
      expect(tokenStanding(null, tokenId, rotation, kind)).toBe('over');
      expect(tokenStanding(session, tokenId, session.expiresAt, kind)).toBe('over');
    }
  });

  it('takes no token for the predecessor of the first one', () => {
    expect(tokenStanding(SESSION, 't0', START, kind)).toBe('reused');
  });
});
