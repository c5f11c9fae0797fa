import { describe, expect, it } from 'vitest';
import { isLive, newSession, type Rotation, reverted, rotated, type Session } from '../../src/domain/session.ts';
import { tokenStanding } from '../../src/domain/token-standing.ts';

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
  racesSince: time - 10_000,
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
      earlierTokens: [],
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
    const next = rotated(SESSION, at(START)) ?? expect.unreachable();
    expect(rotated(next, at(START, { to: 't3' }))).toBeNull();
    expect(rotated(next, at(START, { from: 't2', to: 't3' }))).toMatchObject({
      currentTokenId: 't3',
      previousTokenId: 't2',
    });
  });

  it('is not possible once the session has expired', () => {
    expect(rotated(SESSION, at(SESSION.expiresAt - 1))).not.toBeNull();
    expect(rotated(SESSION, at(SESSION.expiresAt))).toBeNull();
  });
});

describe('the earlier tokens of a session', () => {
  /** Rotates from `t1` on, at a constant interval in milliseconds. */
  const rotatedEvery = (pause: number, times: number): Session => {
    let session = SESSION;
    for (let count = 1; count <= times; count += 1) {
      const step = at(START + count * pause, { from: `t${count}`, to: `t${count + 1}` });
      session = rotated(session, step) ?? expect.unreachable();
    }
    return session;
  };

  it('are those rotated before the previous one, the newest first', () => {
    expect(rotatedEvery(1_000, 4)).toMatchObject({
      currentTokenId: 't5',
      previousTokenId: 't4',
      rotatedAt: START + 4_000,
      earlierTokens: [
        { tokenId: 't3', rotatedAt: START + 3_000 },
        { tokenId: 't2', rotatedAt: START + 2_000 },
        { tokenId: 't1', rotatedAt: START + 1_000 },
      ],
    });
  });

  it('is only the previous one when its rotation can no longer be part of a race', () => {
    expect(rotatedEvery(10_000, 3).earlierTokens).toHaveLength(2);
    expect(rotatedEvery(10_001, 3).earlierTokens).toEqual([]);
  });

  it('are at most 16 earlier ones', () => {
    const { earlierTokens } = rotatedEvery(1, 500);
    expect(earlierTokens.map(({ tokenId }) => tokenId)).toEqual(
      Array.from({ length: 16 }, (_, back) => `t${499 - back}`),
    );
  });
});

describe('reverted', () => {
  it('makes the used token current again, and keeps all that were rotated before', () => {
    const before = rotated(SESSION, at(START + 1_000)) ?? expect.unreachable();
    const step = at(START + 2_000, { from: 't2', to: 't3' });
    const after = rotated(before, step) ?? expect.unreachable();
    const taken = reverted(after, step) ?? expect.unreachable();
    expect(taken).toEqual({ ...after, currentTokenId: 't2' });
    const kind = { raceWindow: 10_000, replayWindow: 5_000 };
    expect(tokenStanding(taken, 't2', START + 2_000, kind)).toBe('current');
    expect(tokenStanding(taken, 't1', START + 2_000, kind)).toBe('replayable');
    expect(tokenStanding(taken, 't3', START + 2_000, kind)).toBe('reused');
  });

  it('is not possible for a rotation that is not the last one', () => {
    const step = at(START + 1_000);
    expect(reverted(SESSION, step)).toBeNull();
    const after = rotated(SESSION, step) ?? expect.unreachable();
    const later = rotated(after, at(START + 2_000, { from: 't2', to: 't3' })) ?? expect.unreachable();
    expect(reverted(later, step)).toBeNull();
  });
});
