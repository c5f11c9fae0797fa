// Proves ASVS 7.1.2, 7.3.1; flood-8
import { describe, expect, it } from 'vitest';
import { NO_KEYS, NO_PROOF_REQUIRED } from '../../src/domain/device.ts';
import { isLive, newSession, type Rotation, reverted, rotated, SESSIONS_PER_USER } from '../../src/domain/session.ts';

const START = Date.UTC(2026, 0, 1);
const LIFETIME = 604_800_000;
const DEVICE = { userAgent: 'a browser', address: '203.0.113.0/24' };
const SESSION = newSession({
  id: 's1',
  userId: 'u1',
  tokenId: 't1',
  now: START,
  lifetime: LIFETIME,
  device: DEVICE,
  keys: NO_KEYS,
  authenticated: { authenticatedAt: START, amr: ['pwd'], knownAt: START, heldAt: null },
});

const at = (time: number, step: Partial<Rotation> = {}): Rotation => ({
  sessionId: 's1',
  userId: 'u1',
  from: 't1',
  expected: step.from ?? 't1',
  number: 0,
  expectedNumber: step.number ?? 0,
  to: 't2',
  at: time,
  expiresAt: time + LIFETIME,
  maxAge: null,
  continuesBurst: true,
  device: DEVICE,
  evidence: NO_PROOF_REQUIRED,
  ...step,
});

it('newSession begins with its first token, which has no predecessor', () => {
  expect(SESSION).toEqual({
    id: 's1',
    userId: 'u1',
    currentTokenId: 't1',
    ...NO_KEYS,
    previousTokenId: null,
    rotatedAt: START,
    rotation: 0,
    burstStartedAt: START,
    burstFirst: 0,
    createdAt: START,
    expiresAt: START + LIFETIME,
    ...DEVICE,
    authenticatedAt: START,
    amr: ['pwd'],
    knownAt: START,
    heldAt: null,
  });
});

it('isLive is true up to the last millisecond before the session expires', () => {
  expect(isLive(SESSION, SESSION.expiresAt - 1)).toBe(true);
  expect(isLive(SESSION, SESSION.expiresAt)).toBe(false);
});

describe('rotated', () => {
  it('moves on to the next token and moves the end of the session', () => {
    const time = START + 1_000;
    expect(rotated(SESSION, at(time))).toEqual({
      ...SESSION,
      currentTokenId: 't2',
      previousTokenId: 't1',
      rotatedAt: time,
      rotation: 1,
      burstStartedAt: time,
      expiresAt: time + LIFETIME,
    });
  });

  it('is not possible from a token that is not current', () => {
    expect(rotated(SESSION, at(START, { from: 't0' }))).toBeNull();
    const next = rotated(SESSION, at(START)) ?? expect.unreachable();
    expect(rotated(next, at(START, { to: 't3' }))).toBeNull();
    expect(rotated(next, at(START, { from: 't2', number: 1, to: 't3' }))).toMatchObject({
      currentTokenId: 't3',
      previousTokenId: 't2',
    });
  });

  it('is not possible when the session has another number than the rotation expects', () => {
    for (const expectedNumber of [-1, 1]) expect(rotated(SESSION, at(START, { expectedNumber }))).toBeNull();
  });

  it('gets a number above that of the token, and above that of the session', () => {
    expect(rotated(SESSION, at(START, { number: 7, expectedNumber: 0 }))).toMatchObject({ rotation: 8, burstFirst: 0 });
    const known = { ...SESSION, rotation: 7 };
    expect(rotated(known, at(START, { number: 0, expectedNumber: 7 }))).toMatchObject({ rotation: 8, burstFirst: 0 });
  });

  it('is not possible once the session has expired', () => {
    expect(rotated(SESSION, at(SESSION.expiresAt - 1))).not.toBeNull();
    expect(rotated(SESSION, at(SESSION.expiresAt))).toBeNull();
  });

  it('is not possible once the session has the greatest age, which may be another one than before', () => {
    expect(rotated(SESSION, at(START + 99, { maxAge: 100 }))).toMatchObject({ expiresAt: START + 100 });
    expect(rotated(SESSION, at(START + 100, { maxAge: 100 }))).toBeNull();
  });
});

describe('a burst of rotations', () => {
  const second = rotated(SESSION, at(START + 60_000, { continuesBurst: false })) ?? expect.unreachable();

  it('begins with the token whose rotation does not continue one', () => {
    expect(second).toMatchObject({ rotation: 1, burstStartedAt: START + 60_000, burstFirst: 0 });
  });

  it('goes on with those whose rotation does', () => {
    const step = at(START + 61_000, { from: 't2', number: 1, to: 't3' });
    expect(rotated(second, step)).toMatchObject({ rotation: 2, burstStartedAt: START + 60_000, burstFirst: 0 });
  });
});

describe('reverted', () => {
  it('makes the used token current again, whose next rotation has to expect the number of the session', () => {
    const before = rotated(SESSION, at(START + 1_000)) ?? expect.unreachable();
    const step = at(START + 2_000, { from: 't2', number: 1, to: 't3' });
    const after = rotated(before, step) ?? expect.unreachable();
    const taken = reverted(after, step) ?? expect.unreachable();
    expect(taken).toEqual({ ...after, currentTokenId: 't2' });
    expect(rotated(taken, { ...step, to: 't4' })).toBeNull();
    const again = { ...step, expectedNumber: taken.rotation, to: 't4' };
    expect(rotated(taken, again)).toMatchObject({ currentTokenId: 't4', rotation: 3 });
  });

  it('makes a rotation impossible that has not happened', () => {
    const step = at(START + 1_000);
    const prevented = reverted(SESSION, step) ?? expect.unreachable();
    expect(prevented).toEqual({ ...SESSION, previousTokenId: 't1', rotation: 1 });
    expect(rotated(prevented, step)).toBeNull();
    expect(reverted(prevented, step)).toBeNull();
    expect(rotated(prevented, { ...step, expectedNumber: 1 })).toMatchObject({ currentTokenId: 't2', rotation: 2 });
  });

  it('is not possible for a rotation that is not the last one', () => {
    const step = at(START + 1_000);
    const after = rotated(SESSION, step) ?? expect.unreachable();
    const later = rotated(after, at(START + 2_000, { from: 't2', number: 1, to: 't3' })) ?? expect.unreachable();
    expect(reverted(later, step)).toBeNull();
  });
});

it('50 sessions are kept for a user', () => {
  expect(SESSIONS_PER_USER).toBe(50);
});
