// Proves SPEC 4.7
import { describe, expect, it } from 'vitest';
import { NO_KEYS, NO_PROOF_REQUIRED, UNKNOWN_DEVICE } from '../../src/domain/device.ts';
import { newSession, rotated } from '../../src/domain/session.ts';
import { accessClaims, isIssuedAfter, refreshClaims } from '../../src/domain/tokens.ts';
import { newUser } from '../../src/domain/user.ts';

const NOW = Date.UTC(2026, 0, 1) + 999;
const SECOND = Date.UTC(2026, 0, 1) / 1000;
const LIFETIME = 604_800_000;

it('accessClaims contain the user without the hash, and times in whole seconds that never exceed the lifetime', () => {
  const user = newUser({ id: 'u1', username: 'Ada', email: 'ada@example.org', passwordHash: 'hash', now: NOW });
  expect(accessClaims({ user, tokenId: 't1', now: NOW, lifetime: 900_000, authenticated: null })).toEqual({
    sub: 'u1',
    iat: SECOND,
    exp: SECOND + 900,
    jti: 't1',
    tokenType: 'access',
    user: { id: 'u1', username: 'Ada', email: 'ada@example.org', createdAt: NOW, updatedAt: NOW },
  });
});

describe('the claim attributes', () => {
  const ada = newUser({ id: 'u1', username: 'Ada', email: 'ada@example.org', passwordHash: 'hash', now: NOW });
  const claimsOf = (attributes: Record<string, unknown>) =>
    accessClaims({ user: { ...ada, attributes }, tokenId: 't1', now: NOW, lifetime: 900_000, authenticated: null });

  it('is in the access token of a user who has some, and of nobody else', () => {
    expect(claimsOf({ roles: ['admin'] })).toEqual({ ...claimsOf({}), attributes: { roles: ['admin'] } });
    // The name itself is missing, so that the table of the specification stays exact.
    expect(Object.keys(claimsOf({}))).not.toContain('attributes');
  });
});

describe('refreshClaims', () => {
  const session = newSession({
    id: 's1',
    userId: 'u1',
    tokenId: 't1',
    now: NOW,
    lifetime: LIFETIME,
    device: UNKNOWN_DEVICE,
    keys: NO_KEYS,
    authenticated: { authenticatedAt: NOW, amr: ['pwd'], knownAt: NOW, heldAt: null },
  });

  it('contain no data of the user but the id', () => {
    expect(refreshClaims(session)).toEqual({
      sub: 'u1',
      iat: SECOND,
      exp: SECOND + LIFETIME / 1000,
      jti: 't1',
      tokenType: 'refresh',
    });
  });

  it('change with a rotation of the session', () => {
    const at = NOW + 60_000;
    const next = rotated(session, {
      sessionId: 's1',
      userId: 'u1',
      from: 't1',
      expected: 't1',
      number: 0,
      expectedNumber: 0,
      to: 't2',
      at,
      expiresAt: at + LIFETIME,
      maxAge: null,
      continuesBurst: false,
      device: UNKNOWN_DEVICE,
      evidence: NO_PROOF_REQUIRED,
    });
    expect(next && refreshClaims(next)).toMatchObject({
      jti: 't2',
      iat: SECOND + 60,
      exp: SECOND + 60 + LIFETIME / 1000,
    });
  });
});

describe('a token', () => {
  it.each([
    ['a second before a time', -1_000, false],
    ['a millisecond before it', -1, false],
    ['at that time', 0, false],
    ['in the same second, after it', 499, false],
    ['in the next second', 500, true],
  ])('that was issued %s, by %i ms, is certain to have been issued after it: %j', (_when, later, expected) => {
    const user = newUser({ id: 'u1', username: 'Ada', email: 'ada@example.org', passwordHash: 'hash', now: NOW });
    const time = SECOND * 1_000 + 500;
    const claims = accessClaims({ user, tokenId: 't1', now: time + later, lifetime: 900_000, authenticated: null });
    expect(isIssuedAfter(claims, time)).toBe(expected);
  });

  it('that was issued in the same millisecond does not count as issued after it, even at the beginning of a second', () => {
    expect(isIssuedAfter({ iat: SECOND }, SECOND * 1_000)).toBe(false);
    expect(isIssuedAfter({ iat: SECOND }, SECOND * 1_000 - 1)).toBe(true);
    expect(isIssuedAfter({ iat: SECOND }, 0)).toBe(true);
  });
});
