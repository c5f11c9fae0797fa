// Proves SPEC 8.11
import { describe, expect, it } from 'vitest';
import { NO_KEYS, NO_PROOF_REQUIRED, UNKNOWN_DEVICE } from '../../src/domain/device.ts';
import { newSession, type Rotation, reverted, rotated, type Session } from '../../src/domain/session.ts';
import { continuesBurst, TOKEN_STATES, tokenStatus } from '../../src/domain/tokens.ts';
import { readText } from '../support/checkout/repository.ts';

const START = Date.UTC(2026, 0, 1);
const LIFETIME = 604_800_000;
const SESSION = newSession({
  id: 's1',
  userId: 'u1',
  tokenId: 't0',
  now: START,
  lifetime: LIFETIME,
  device: { userAgent: null, address: null },
  keys: NO_KEYS,
  authenticated: { authenticatedAt: START, amr: ['pwd'], knownAt: START, heldAt: null },
});
const STRICT = { jwtRefreshRaceWindow: 10_000, jwtRefreshReplayWindow: 0 };
const KIND = { jwtRefreshRaceWindow: 10_000, jwtRefreshReplayWindow: 5_000 };

/** The status of a token of a session without a key. */
const statusOf = (session: Session | null, presented: ReturnType<typeof token>, now: number, policy = STRICT) =>
  tokenStatus(session, presented, { now, policy, evidence: NO_PROOF_REQUIRED });

const token = (jti: string, rotation: number, issuedAt: number) => ({
  claims: { jti, iat: Math.floor(issuedAt / 1_000) },
  rotation,
});

it('the states of a token are the table of the README, the best first', () => {
  const rows = Object.entries(TOKEN_STATES).map(
    ([state, { when, action }]) => `| \`${state}\` | ${when} | ${action} |`,
  );
  expect(readText('src/application/sessions/README.md')).toContain(
    `| State | When | A refresh |\n|---|---|---|\n${rows.join('\n')}\n`,
  );
});

describe('tokenStatus', () => {
  const run = START + 60_000;
  const last = run + 20_000;
  /** Tokens 2 to 5 were rotated in one run: all but the first at most a window after they were issued. */
  const session: Session = {
    ...SESSION,
    currentTokenId: 't6',
    previousTokenId: 't5',
    rotatedAt: last,
    rotation: 6,
    burstStartedAt: run,
    burstFirst: 2,
  };
  const [t1, t2, t3] = [token('t1', 1, START), token('t2', 2, START), token('t3', 3, run)];
  const [t4, t5, t6] = [token('t4', 4, last - 2_000), token('t5', 5, last - 1_000), token('t6', 6, last)];
  const [another, future] = [token('x', 6, last), token('x', 7, last)];
  const oldest = token('x', 0, last);

  it.each([
    ['the current token', t6, last, STRICT, 'current'],
    ['the current token long after', t6, last + 86_400_000, STRICT, 'current'],
    ['the predecessor at once', t5, last, STRICT, 'raced'],
    ['the predecessor at the end of the race window', t5, last + 10_000, STRICT, 'raced'],
    ['the predecessor past the race window', t5, last + 10_001, STRICT, 'reused'],
    ['the predecessor by a clock that is behind', t5, last - 5_000, STRICT, 'raced'],
    ['the first of the burst at the end of the race window', t2, run + 10_000, STRICT, 'raced'],
    ['the first of the burst past the race window', t2, run + 10_001, STRICT, 'reused'],
    ['one before the burst, however recent that is', t1, run, STRICT, 'reused'],
    [
      'a later one until two windows and the second that `iat` leaves out have passed',
      t3,
      run + 20_999,
      STRICT,
      'raced',
    ],
    ['a later one after that', t3, run + 21_000, STRICT, 'reused'],
    ['a later one at the end of the race window of the last rotation', t4, last + 10_000, STRICT, 'raced'],
    ['a later one past that race window', t4, last + 10_001, STRICT, 'reused'],
    ['another with the number of the current token', another, last, STRICT, 'reused'],
    ['one that the store has forgotten', future, last, STRICT, 'recoverable'],
    ['one that the store has forgotten, with a replay window', future, last, KIND, 'recoverable'],
    [
      'another one, issued after the last rotation by a clock that is ahead',
      token('x', 5, run + 70_000),
      run + 90_000,
      STRICT,
      'reused',
    ],
    ['one with the number of the first token', oldest, last, STRICT, 'reused'],
    ['the predecessor by a clock that is behind, with a replay window', t5, last - 5_000, KIND, 'replayable'],
    ['the predecessor in the last millisecond of the replay window', t5, last + 4_999, KIND, 'replayable'],
    ['the predecessor at the end of the replay window', t5, last + 5_000, KIND, 'raced'],
    ['the predecessor past both windows', t5, last + 10_001, KIND, 'reused'],
    ['the first of the burst, with a replay window', t2, run, KIND, 'raced'],
    ['a later one that was issued within the replay window', t4, last + 2_999, KIND, 'replayable'],
    ['a later one that may have been rotated before the replay window', t4, last + 3_000, KIND, 'raced'],
    ['one before the burst, with a replay window', t1, run, KIND, 'reused'],
    ['the current token within the replay window of its rotation', t6, last + 4_999, KIND, 'replayable'],
    ['the current token at the end of that window', t6, last + 5_000, KIND, 'current'],
  ])('returns the status of %s', (_, presented, now, policy, status) => {
    expect(statusOf(session, presented, now, policy)).toBe(status);
  });

  it('is `ended` for every token of a session that has expired or was ended', () => {
    for (const presented of [t1, t5, t6]) {
      expect(statusOf(null, presented, last, KIND)).toBe('ended');
      expect(statusOf(session, presented, session.expiresAt, KIND)).toBe('ended');
    }
  });

  it('treats the first token as one without a predecessor, which may be rotated at once', () => {
    expect(statusOf(SESSION, token('x', 0, START), START)).toBe('raced');
    expect(statusOf(SESSION, token('t0', 0, START), START, KIND)).toBe('current');
  });

  it('depends on the proof for a session with a key: the current token is rotated unless it is new, and any older one is replayable', () => {
    const bound = { ...session, browserKey: 'x.y' };
    const evidence = { required: true, proof: null, browserKey: 'x.y' };
    const ofBound = (presented: typeof t6, now: number, policy: typeof KIND) =>
      tokenStatus(bound, presented, { now, policy, evidence });
    expect(ofBound(t6, last, STRICT)).toBe('current');
    expect(ofBound(t6, last + 4_999, KIND)).toBe('replayable');
    expect(ofBound(t6, last + 5_000, KIND)).toBe('current');
    for (const old of [t1, t5]) expect(ofBound(old, last + 86_400_000, STRICT)).toBe('replayable');
    expect(tokenStatus(bound, t6, { now: last, policy: KIND, evidence: { ...evidence, browserKey: null } })).toBe(
      'unproven',
    );
  });

  it('is not `replayable` after a revert, since the session does not know when the current token was issued', () => {
    const restored = { ...session, currentTokenId: 't5' };
    expect(statusOf(restored, t5, last, KIND)).toBe('current');
    expect(statusOf(restored, t4, last, KIND)).toBe('raced');
  });
});

it('a rotation continues a burst up to a window after its token may have been issued', () => {
  const ages = [10_999, 11_000];
  expect(ages.map((age) => continuesBurst(token('t0', 0, START), START + age, STRICT))).toEqual([true, false]);
});

describe('the tokens of a session, rotated one after the other', () => {
  const rotation = (session: Session, from: ReturnType<typeof token>, at: number): Rotation => ({
    sessionId: session.id,
    userId: session.userId,
    from: from.claims.jti,
    expected: from.claims.jti,
    number: from.rotation,
    expectedNumber: session.rotation,
    to: `${from.claims.jti}'`,
    at,
    expiresAt: at + LIFETIME,
    maxAge: null,
    continuesBurst: continuesBurst(from, at, STRICT),
    device: UNKNOWN_DEVICE,
    evidence: NO_PROOF_REQUIRED,
  });
  const next = (session: Session, from: ReturnType<typeof token>, at: number): Session =>
    rotated(session, rotation(session, from, at)) ?? expect.unreachable();
  const current = ({ currentTokenId, rotation: number, rotatedAt }: Session) =>
    token(currentTokenId, number, rotatedAt);
  const FIRST = current(SESSION);

  // 11 s is the shortest pace at which each rotation begins a burst.
  it.each([500, 10_999, 11_000])('are raced for a window and reused soon after it, at a pace of %i ms', (pace) => {
    const statusAt = (time: number) => {
      let session = SESSION;
      for (let at = START + pace; at <= time; at += pace) session = next(session, current(session), at);
      return statusOf(session, FIRST, time);
    };
    expect(statusAt(START + pace + 10_000)).toBe('raced');
    expect(statusAt(START + 22_000)).toBe('reused');
  });

  it('are raced for a window after a rotation that recovers lost ones, if they may be of that moment', () => {
    const now = START + 3_600_000;
    const stored = next(SESSION, FIRST, START + 60_000);
    const [kept, lost, newest] = [current(stored), token('b', 2, now - 2_000), token('c', 3, now - 1_000)];
    const recovery = { ...rotation(stored, newest, now), expected: stored.currentTokenId, continuesBurst: false };
    const recovered = rotated(stored, recovery) ?? expect.unreachable();
    const later = (each: typeof kept, by: number) => statusOf(recovered, each, now + by);
    for (const each of [kept, lost, newest]) {
      expect(later(each, 10_000)).toBe('raced');
      expect(later(each, 10_001)).toBe('reused');
    }
    for (const old of [FIRST, token('b', 2, now - 21_000)]) expect(later(old, 0)).toBe('reused');
  });

  it('go on with one whose rotation was lost, also if a later rotation of the token before was reverted', () => {
    const now = START + 3_600_000;
    const lost = token('b', 1, now - 60_000);
    const failed = rotation(SESSION, FIRST, now - 50_000);
    const restored = reverted(SESSION, failed) ?? expect.unreachable();
    expect(statusOf(restored, lost, now)).toBe('recoverable');
    // The number tells it where `iat` does not: within the second of the last rotation.
    expect(statusOf(restored, token('x', 1, START), now)).toBe('recoverable');
    expect(statusOf({ ...restored, rotation: 2 }, token('x', 1, START), now)).toBe('reused');
    expect(statusOf({ ...restored, rotation: 2 }, lost, now)).toBe('recoverable');
    const recovery = { ...rotation(restored, lost, now), expected: FIRST.claims.jti, continuesBurst: false };
    const recovered = rotated(restored, recovery) ?? expect.unreachable();
    expect(statusOf(recovered, FIRST, now + 10_000)).toBe('raced');
    expect(statusOf(recovered, FIRST, now + 10_001)).toBe('reused');
  });

  it('are raced for a window if the last rotation of one was reverted, and it was rotated later', () => {
    const once = next(SESSION, FIRST, START + 60_000);
    const second = current(once);
    const failed = rotation(once, second, START + 69_000);
    const restored = reverted(rotated(once, failed) ?? expect.unreachable(), failed) ?? expect.unreachable();
    for (const at of [START + 70_000, START + 90_000]) {
      const twice = next(restored, second, at);
      const thrice = next(twice, current(twice), at + 1_000);
      expect(statusOf(thrice, second, at + 10_000)).toBe('raced');
      expect(statusOf(thrice, second, at + 21_000)).toBe('reused');
      expect(statusOf(restored, FIRST, START + 70_000)).toBe('raced');
      expect(statusOf(restored, FIRST, START + 70_001)).toBe('reused');
    }
  });
});
