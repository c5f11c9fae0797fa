import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { RateLimitExceeded } from '../../../src/adapters/http/errors/exceptions.ts';
import { sharedCount } from '../../../src/adapters/http/rate-limit/rate-limiter.ts';
import { stageDeps } from '../../support/http/stage-app.ts';

/** A shared count with a controlled Redis and a fixed clock. */
const setUp = () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  const { logger, logs } = stageDeps();
  const shared = sharedCount(logger);
  const asked: string[] = [];
  const redis = { answer: async (): Promise<void> => undefined };
  const ask = () =>
    shared.orElse(
      () => {
        asked.push('redis');
        return redis.answer();
      },
      async () => {
        asked.push('process');
      },
    );
  return { shared, logs, asked, redis, ask };
};

const unavailable = async () => Promise.reject(new Error('Connection is closed.'));
const RETRY_INTERVAL_MS = 5_000;

describe('the shared count', () => {
  it('uses only Redis while Redis responds', async () => {
    const { ask, asked, shared, logs } = setUp();
    await ask();
    await ask();
    expect([asked, shared.degraded(), logs]).toEqual([['redis', 'redis'], false, []]);
  });

  it('refuses a client that Redis refuses, without a second count in the process', async () => {
    const { ask, asked, redis, shared } = setUp();
    redis.answer = async () => Promise.reject(new RateLimitExceeded(7));
    await expect(ask()).rejects.toMatchObject({ name: 'RateLimitExceeded', retryAfter: 7 });
    expect([asked, shared.degraded()]).toEqual([['redis'], false]);
  });

  it('counts in the process while Redis is unavailable, and retries Redis only after a pause', async () => {
    const { ask, asked, redis, shared } = setUp();
    redis.answer = unavailable;
    await ask();
    await ask();
    expect([asked, shared.degraded()]).toEqual([['redis', 'process', 'process'], true]);
    vi.advanceTimersByTime(RETRY_INTERVAL_MS);
    await ask();
    expect(asked.slice(3)).toEqual(['redis', 'process']);
  });

  it.each([
    ['admits', async () => undefined],
    ['refuses', async () => Promise.reject(new RateLimitExceeded(1))],
  ])('is used again when Redis is available and %s', async (_what, answer) => {
    const { ask, asked, redis, shared } = setUp();
    redis.answer = unavailable;
    await ask();
    redis.answer = answer;
    vi.advanceTimersByTime(RETRY_INTERVAL_MS);
    await ask().catch(() => undefined);
    expect([asked.at(-1), shared.degraded()]).toEqual(['redis', false]);
  });

  it('logs each change once', async () => {
    const { ask, redis, logs } = setUp();
    const askAgain = async () => {
      vi.advanceTimersByTime(RETRY_INTERVAL_MS);
      await ask();
    };
    redis.answer = unavailable;
    await askAgain();
    await askAgain();
    redis.answer = async () => undefined;
    await askAgain();
    await askAgain();
    redis.answer = unavailable;
    await askAgain();
    expect(logs.map(({ level }) => level)).toEqual(['warn', 'info', 'warn']);
  });
});
