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
  continuesRun: true,
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
  /** Rotates from `t1` on, once a second. */
  const rotatedOn = (times: number): Session =>
    Array.from({ length: times }, (_, count) => count + 1).reduce((before, count) => {
      const step = at(START + count * 1_000, { from: `t${count}`, to: `t${count + 1}` });
      return rotated(before, step) ?? expect.unreachable();
    }, SESSION);

  it('are those rotated before the previous one, the newest first', () => {
    expect(rotatedOn(4)).toMatchObject({
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

  it('are none when a rotation begins a new run', () => {
    const step = at(START + 60_000, { from: 't5', to: 't6', continuesRun: false });
    expect(rotated(rotatedOn(4), step)).toMatchObject({ previousTokenId: 't5', earlierTokens: [] });
  });

  it('are at most 16: the newest, and the first of the run', () => {
    expect(rotatedOn(500).earlierTokens.map(({ tokenId }) => tokenId)).toEqual([
      ...Array.from({ length: 15 }, (_, back) => `t${499 - back}`),
      't1',
    ]);
  });

  it('do not include one whose rotation was reverted', () => {
    const session = rotatedOn(2);
    const step = at(START + 3_000, { from: 't3', to: 't4' });
    const after = rotated(session, step) ?? expect.unreachable();
    const again = { ...step, to: 't5', at: START + 4_000 };
    expect(rotated(reverted(after, step) ?? expect.unreachable(), again)).toMatchObject({
      currentTokenId: 't5',
      previousTokenId: 't3',
      rotatedAt: START + 4_000,
      earlierTokens: after.earlierTokens,
    });
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
    const standingOf = (jti: string) => tokenStanding(taken, { jti, iat: START / 1_000 }, START + 2_000, kind);
    expect(['t2', 't1', 't3'].map(standingOf)).toEqual(['current', 'replayable', 'reused']);
  });

  it('is not possible for a rotation that is not the last one', () => {
    const step = at(START + 1_000);
    expect(reverted(SESSION, step)).toBeNull();
    const after = rotated(SESSION, step) ?? expect.unreachable();
    const later = rotated(after, at(START + 2_000, { from: 't2', to: 't3' })) ?? expect.unreachable();
    expect(reverted(later, step)).toBeNull();
  });
});
