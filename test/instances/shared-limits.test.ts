import { describe, expect, it } from 'vitest';
import { canShare, twoInstances } from '../support/processes/instances.ts';
import { tally } from '../support/tally.ts';

const LIMIT = 20;
const FREE_GUESSES = 50;
const ADMITTED = '400 CLIENT_PARAMS_VALIDATION_FAILED';
const REFUSED = '429 CLIENT_REQUEST_RATE_LIMIT_EXCEEDED';

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;

describe.runIf(canShare()).each<[string, [number, number]]>([
  ['one is 90 s ahead', [0, 90 * SECOND]],
  ['one is 90 s behind and the other 90 s ahead', [-90 * SECOND, 90 * SECOND]],
  ['one is hours behind', [-3 * HOUR, 0]],
])('two instances over one Redis, whose clocks differ: %s', (_which, clocks) => {
  const { at } = twoInstances({ RATE_LIMIT_STRICT: `${LIMIT}/60`, TRUST_PROXY: '1' }, clocks);
  const ask = (instance: number) => at(instance).http.post('/auth/login').set('X-Forwarded-For', '192.0.2.1').send({});

  // Proves: flood-1
  it('admit together what one of them would, and tell a wait within the window', async () => {
    const responses = [];
    for (let count = 0; count < 3 * LIMIT; count += 1) responses.push(await ask(count));
    const [first = 0, second = 0] = responses.map(({ body }) => Date.parse(body.timestamp));
    expect(Math.abs(second - first - (clocks[1] - clocks[0]))).toBeLessThan(30 * SECOND);
    expect(tally(responses)).toEqual({ [ADMITTED]: LIMIT, [REFUSED]: 2 * LIMIT });
    for (const { headers } of responses.slice(LIMIT)) {
      expect(headers['retry-after']).toMatch(/^[1-9]\d?$/);
      expect(Number(headers['retry-after'])).toBeLessThanOrEqual(60);
      expect(Number(headers['retry-after'])).toBeGreaterThan(30);
    }
  });
});

describe.runIf(canShare())('two instances over one Redis', () => {
  const { at } = twoInstances({ RATE_LIMIT_STRICT: `${LIMIT}/60`, TRUST_PROXY: '1' });

  /** Limits go before validation: a body that costs nothing is counted like any other. */
  const ask = (instance: number, forwarded: string) =>
    at(instance).http.post('/auth/login').set('X-Forwarded-For', forwarded).send({});
  const burst = (count: number, forwarded: string) =>
    Promise.all(Array.from({ length: count }, (_none, index) => ask(index, forwarded)));

  // Proves: flood-1
  it('admit as many requests of a burst over both as one of them would', async () => {
    const responses = await burst(3 * LIMIT, '192.0.2.1');
    expect(tally(responses)).toEqual({ [ADMITTED]: LIMIT, [REFUSED]: 2 * LIMIT });
  });

  it('refuse at the one whom the other has counted, and nobody else', async () => {
    for (let count = 0; count < LIMIT; count += 1) await ask(0, '192.0.2.2').expect(400);
    await ask(1, '192.0.2.2').expect(429);
    await ask(1, '192.0.2.3').expect(400);
  });

  it('take the client from the last hop, whatever it claims about the ones before', async () => {
    for (let count = 0; count < LIMIT; count += 1) await ask(count, `198.51.100.${count}, 192.0.2.4`).expect(400);
    await ask(0, '203.0.113.1, 192.0.2.4').expect(429);
    await ask(1, '192.0.2.4').expect(429);
    await ask(1, '192.0.2.4, 203.0.113.1').expect(400);
  });

  it('let a guesser who takes turns at both through as often as one of them would', async () => {
    const guess = (_none: unknown, index: number) =>
      at(index)
        .http.post('/auth/login')
        .set('X-Forwarded-For', `203.0.113.${index}`)
        .send({ account: 'nobody', password: 'a guess' });
    const responses = await Promise.all(Array.from({ length: 2 * FREE_GUESSES }, guess));
    const { [REFUSED]: refused = 0, '401 AUTH_CREDENTIALS_INVALID': compared = 0 } = tally(responses);
    expect(compared + refused).toBe(2 * FREE_GUESSES);
    // On a slow machine a second may have passed meanwhile, which lets one more through.
    expect(compared).toBeGreaterThanOrEqual(FREE_GUESSES);
    expect(compared).toBeLessThan(FREE_GUESSES + 10);
  });

  it('count each route for itself', async () => {
    await burst(LIMIT, '192.0.2.5');
    await ask(0, '192.0.2.5').expect(429);
    await at(1).http.post('/auth/register').set('X-Forwarded-For', '192.0.2.5').send({}).expect(400);
  });
});
