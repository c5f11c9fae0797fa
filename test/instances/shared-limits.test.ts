// Proves theft-4, flood-1
import { hash } from 'node:crypto';
import { Redis } from 'ioredis';
import { describe, expect, it, onTestFinished } from 'vitest';
import { canShare, twoInstances } from '../support/processes/instances.ts';
import { tally } from '../support/tally.ts';

const LIMIT = 20;
const ADMITTED = '400 CLIENT_PARAMS_VALIDATION_FAILED';
const REFUSED = '429 CLIENT_REQUEST_RATE_LIMIT_EXCEEDED';

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;
/** Seconds; the window does not end during a test. */
const WINDOW = 3_600;
const LIMITED = { RATE_LIMITS: `global=off,strict=${LIMIT}/${WINDOW},public=off`, TRUST_PROXY: '1' };

describe.runIf(canShare())('two instances over one Redis, one 90 min behind and the other 90 min ahead', () => {
  const clocks = [-1.5 * HOUR, 1.5 * HOUR] as const;
  const { at, whileShared, redisUrl } = twoInstances(LIMITED, clocks);

  it('admit together as many requests as one would, and return a wait within the window', async () => {
    const responses = await whileShared(async (attempt) => {
      const all = [];
      for (let count = 0; count < 3 * LIMIT; count += 1) {
        all.push(await at(count).http.post('/auth/login').set('X-Forwarded-For', `192.0.2.${attempt}`).send({}));
      }
      return all;
    });
    const [first = 0, second = 0] = [0, 1].map((index) => at(index).startedAt());
    expect(Math.abs(second - first - (clocks[1] - clocks[0]))).toBeLessThan(HOUR / 2);
    expect(tally(responses)).toEqual({ [ADMITTED]: LIMIT, [REFUSED]: 2 * LIMIT });
    for (const { headers } of responses.slice(LIMIT)) {
      expect(headers['retry-after']).toMatch(/^[1-9]\d*$/);
      expect(Number(headers['retry-after'])).toBeLessThanOrEqual(WINDOW);
      expect(Number(headers['retry-after'])).toBeGreaterThan(WINDOW / 2);
    }
  });

  it('keep in Redis no address, no account, and no hash of one that others can make', async () => {
    const guess = { account: 'nobody', password: 'a guess' };
    await whileShared((attempt) =>
      at(attempt).http.post('/auth/login').set('X-Forwarded-For', '203.0.113.77').send(guess),
    );
    const redis = new Redis(redisUrl());
    onTestFinished(() => redis.disconnect());
    const keys = await redis.keys('*');
    const texts = [...keys, ...(await redis.mget(keys))];
    expect(keys.filter((key) => key.startsWith('tandem:throttle:'))).not.toEqual([]);
    expect(keys.filter((key) => !/^tandem:(?:requests|throttle):[\w-]{43}$/.test(key))).toEqual([]);
    for (const known of ['203.0.113.77', '203.0.113.0/24', '203.0.0.0/16', 'account nobody 0', 'nobody'])
      for (const told of [known, hash('sha256', known, 'base64url').slice(0, 16)])
        expect(texts.filter((text) => text?.includes(told))).toEqual([]);
  });
});
