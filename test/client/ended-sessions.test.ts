import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { followEndedSessions } from '../../client/src/server.ts';
import type { EndedSessionsOptions } from '../../client/src/types.ts';
import { NOW, secondsNow, startFeed } from '../support/ended-feed.ts';
import { testKeyPair } from '../support/keys.ts';

const [A, B, C, ADA, BOB] = ['01A', '01B', '01C', '01ADA', '01BOB'];
const ofSessions = (...sids: string[]) => sids.map((sid) => ({ sid, event_timestamp: NOW }));
const token = (sid: string, sub = BOB, iat = NOW) => ({ sid, sub, iat });

const follow = (baseUrl: string, options: Partial<EndedSessionsOptions> = {}) => {
  const errors: Error[] = [];
  const ended = followEndedSessions({ baseUrl, onError: (error) => errors.push(error), ...options });
  onTestFinished(ended.close);
  return { ...ended, errors };
};
const WAIT = { timeout: 20_000, interval: 20 };

describe('followEndedSessions', () => {
  it.each([
    ['of a session in the list', token(A), true],
    ['of another session', token(B), false],
    ['of a user in the list, issued before', token(B, ADA, NOW - 10), true],
    ['of a user in the list, issued in that second', token(B, ADA, NOW - 5), true],
    ['of a user in the list, issued afterwards', token(B, ADA, NOW - 4), false],
    ['issued before everything ended', token(B, BOB, NOW - 100), true],
    ['issued afterwards', token(B, BOB, NOW - 99), false],
    ['that says nothing', {}, true],
  ])('judges a token %s', async (_what, judged, isEnded) => {
    const feed = await startFeed();
    const users = [{ sub: ADA, event_timestamp: NOW - 5 }];
    await feed.publish({ sessions: ofSessions(A), users, before: NOW - 100 });
    const ended = follow(feed.url);
    await vi.waitFor(() => expect(ended.isEnded(token(A))).toBe(true), WAIT);
    expect(ended.isEnded(judged)).toBe(isEnded);
  });

  it('waits at the service for the next list, and keeps what the last one said until no token of it is valid', async () => {
    const feed = await startFeed();
    const ended = follow(feed.url);
    await vi.waitFor(() => expect(feed.waiting.size).toBe(1), WAIT);
    expect(ended.isEnded(token(A))).toBe(false);
    await feed.publish({ sessions: ofSessions(A) });
    await vi.waitFor(() => expect(ended.isEnded(token(A))).toBe(true), WAIT);
    // An older one.
    await feed.publish({ sessions: ofSessions(B), iat: secondsNow() - 30 });
    await vi.waitFor(() => expect(ended.isEnded(token(B))).toBe(true), WAIT);
    expect(ended.isEnded(token(A))).toBe(true);
    // A token is accepted for five seconds after its expiry, by a clock that may be five seconds behind.
    vi.useFakeTimers({ toFake: ['Date'], now: (NOW + 909) * 1_000 });
    await feed.publish({ sessions: ofSessions(C) });
    await vi.waitFor(() => expect(ended.isEnded(token(C))).toBe(true), WAIT);
    expect(ended.isEnded(token(A))).toBe(true);
    vi.setSystemTime((NOW + 915) * 1_000);
    await feed.publish();
    await vi.waitFor(() => expect(ended.isEnded(token(A))).toBe(false), WAIT);
    expect(new Set(feed.asked).size).toBe(feed.asked.length);
    expect(ended.errors).toEqual([]);
  });

  it.each([
    ['of another type', {}, { header: { typ: 'JWT' } }],
    ['that another key has signed', {}, { keys: testKeyPair() }],
    ['of another issuer', { iss: 'https://other.example.com' }, {}],
    ['that has expired', { exp: NOW - 60 }, {}],
    ['for something else', { aud: 'https://app.example.com' }, {}],
    ['that is minutes old', { iat: NOW - 300 }, {}],
    ['that is too long', { padding: 'x'.repeat(6 * 2 ** 20) }, {}],
    ['in an error', {}, { status: 503 }],
  ])('believes no list %s', async (_what, claims, more) => {
    const iss = 'https://auth.example.com';
    const feed = await startFeed();
    await feed.publish({ iss, sessions: ofSessions(A) });
    const ended = follow(feed.url, { issuer: iss });
    await vi.waitFor(() => expect(ended.isEnded(token(A))).toBe(true), WAIT);
    await feed.publish({ iss, sessions: ofSessions(B), ...claims }, more);
    await vi.waitFor(() => expect(ended.errors).not.toEqual([]), WAIT);
    expect([ended.isEnded(token(A)), ended.isEnded(token(B))]).toEqual([true, false]);
    await feed.publish({ iss, sessions: ofSessions(B) });
    await vi.waitFor(() => expect(ended.isEnded(token(B))).toBe(true), WAIT);
  });

  it.each(['stale-ok', 'refuse'] as const)(
    'judges by %s while the service is gone, and goes on when it is back',
    async (whenStale) => {
      const keys = testKeyPair();
      const feed = await startFeed(keys);
      await feed.publish({ sessions: ofSessions(A) });
      const ended = follow(feed.url, { whenStale });
      const judged = (sid: string) => {
        try {
          return ended.isEnded(token(sid));
        } catch (error) {
          return error;
        }
      };
      const unknown = expect.objectContaining({ code: 'CLIENT_NETWORK_FAILED', retryable: true });
      expect(judged(B)).toEqual(whenStale === 'refuse' ? unknown : false);
      await vi.waitFor(() => expect(judged(A)).toBe(true), WAIT);

      await feed.stop();
      await vi.waitFor(() => expect(ended.errors).not.toEqual([]), WAIT);
      expect([judged(A), judged(B)]).toEqual([true, false]);
      const { now } = performance;
      vi.spyOn(performance, 'now').mockImplementation(() => now.call(performance) + 61_000);
      expect([judged(A), judged(B)]).toEqual(whenStale === 'refuse' ? [unknown, unknown] : [true, false]);

      await (await startFeed(keys, feed.port)).publish({ sessions: ofSessions(B) });
      await vi.waitFor(() => expect([judged(A), judged(B)]).toEqual([true, true]), WAIT);
    },
  );

  it('asks no more when it is closed', async () => {
    const feed = await startFeed();
    const calls: Promise<Response>[] = [];
    const send = (input: string | URL | Request, init?: RequestInit) => {
      const call = fetch(input, init);
      if (`${input}`.includes('ended-sessions')) calls.push(call);
      return call;
    };
    const ended = follow(feed.url, { fetch: send });
    await vi.waitFor(() => expect(feed.waiting.size).toBe(1), WAIT);
    ended.close();
    await expect(calls.at(-1)).rejects.toMatchObject({ name: 'AbortError' });
    expect(calls).toHaveLength(2);
    expect(ended.errors).toEqual([]);
  });

  it('does not take an address without a scheme', () => {
    expect(() => followEndedSessions({ baseUrl: 'localhost:3000' })).toThrow(TypeError);
  });
});
