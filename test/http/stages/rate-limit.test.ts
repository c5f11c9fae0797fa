// Proves SPEC 12.17, 19.3, 20.15, 20.16, 22.1, 22.3, 22.4, 22.5, 22.6, 22.7, 22.8, 22.9, 22.10, 22.11, 22.12, 24.9; ASVS 4.1.3, 6.3.1; network-5
// Proves flood-1
import { Agent, get } from 'node:http';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Tier } from '../../../src/adapters/http/routing/define-route.ts';
import { parseConfig } from '../../../src/infrastructure/config.ts';
import { declaredRoutes } from '../../support/http/service.ts';
import { probe, type StageDeps, stageApp } from '../../support/http/stage-app.ts';
import { DEVELOPMENT, PRODUCTION } from '../../support/processes/environments.ts';

const TIERS = ['global', 'strict', 'public'] as const;
const routes = TIERS.map((throttle) => probe(() => null, { name: throttle, path: `/${throttle}`, throttle }));

/** One request per client and minute. */
const ONE = { requests: 1, window: 60_000 };
const ONE_EACH = { global: ONE, strict: ONE, public: ONE };

/** Sends many requests over one connection. @returns their statuses. */
const sendRepeatedly = async (address: string, times: number): Promise<number[]> => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  const statuses: number[] = [];
  for (let sent = 0; sent < times; sent += 1) {
    const answered = Promise.withResolvers<number>();
    get(address, { agent }, (response) => {
      response.resume().once('end', () => answered.resolve(response.statusCode ?? 0));
    }).once('error', answered.reject);
    statuses.push(await answered.promise);
  }
  return statuses;
};

const repeated = (status: number, times: number) => Array.from({ length: times }, () => status);

describe('the limits of SPEC "Rate limiting"', () => {
  it.each<[string, Readonly<Record<string, string>>, Tier, number, number]>([
    ['production', PRODUCTION, 'global', 100, 60],
    ['production', PRODUCTION, 'strict', 20, 60],
    ['production', PRODUCTION, 'public', 1_000, 300],
    ['development', DEVELOPMENT, 'global', 500, 60],
    ['development', DEVELOPMENT, 'strict', 100, 60],
  ])('in %s admit a client in the tier %3$s exactly that many times', async (_name, env, tier, requests, seconds) => {
    const { http, url } = await stageApp(routes, { rateLimits: parseConfig(env).rateLimits });
    expect(await sendRepeatedly(`${url}/${tier}`, requests)).toEqual(repeated(200, requests));

    const refused = await http.get(`/${tier}`).expect(429);
    expect(refused.body).toMatchObject({ code: 'CLIENT_REQUEST_RATE_LIMIT_EXCEEDED', details: null });
    expect(refused.headers['retry-after']).toMatch(/^[1-9]\d*$/);
    expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(seconds);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(seconds - 30);
  });

  it('do not apply to the public tier in development', async () => {
    const { rateLimits } = parseConfig(DEVELOPMENT);
    expect(rateLimits.public).toBeNull();
    const { url } = await stageApp(routes, { rateLimits: { ...ONE_EACH, public: null } });
    expect(await sendRepeatedly(`${url}/public`, 9)).toEqual(repeated(200, 9));
  });
});

describe('a refused request', () => {
  it.each([
    [1, '1'],
    [1_000, '1'],
    [1_001, '2'],
    [59_500, '60'],
    [60_000, '60'],
  ])('has to wait until the window ends, in whole seconds, rounded up: %i ms', async (left, seconds) => {
    const { http } = await stageApp(routes, {
      rateLimits: ONE_EACH,
      counts: { countRequest: async () => ({ count: 2, left }) },
    });
    expect((await http.get('/global').expect(429)).headers['retry-after']).toBe(seconds);
  });

  it('reaches no handler', async () => {
    let handled = 0;
    const counting = probe(() => {
      handled += 1;
    });
    const { http } = await stageApp([counting], { rateLimits: ONE_EACH });
    for (const status of [200, 429, 429]) await http.get('/probe').expect(status);
    expect(handled).toBe(1);
  });

  it('does not lengthen the wait: the client is admitted again after the window', async () => {
    const { http } = await stageApp(routes, { rateLimits: { ...ONE_EACH, global: { requests: 1, window: 1_000 } } });
    const status = async () => (await http.get('/global')).status;
    expect(await status()).toBe(200);
    // On a busy machine the window may have passed between two requests.
    await expect.poll(status, { interval: 1 }).toBe(429);
    await expect.poll(status, { interval: 100 }).toBe(200);
  });

  it.each([200, 429])('gets no unspecified rate-limit header, and neither does an admitted one: %i', async (status) => {
    const { http } = await stageApp(routes, { rateLimits: ONE_EACH });
    if (status === 429) await http.get('/global');
    const { headers } = await http.get('/global').expect(status);
    expect(Object.keys(headers).filter((name) => /ratelimit/i.test(name))).toEqual([]);
    expect(headers['retry-after'] === undefined).toBe(status === 200);
  });
});

describe('routes', () => {
  it('have separate limits, also within a tier, and with one path and different methods', async () => {
    const both = [probe(() => null, { name: 'read' }), probe(() => null, { name: 'write', method: 'POST' })];
    const other = probe(() => null, { name: 'a', path: '/a' });
    const { http } = await stageApp([...both, other], { rateLimits: ONE_EACH });
    for (const status of [200, 429])
      for (const send of [http.get('/probe'), http.post('/probe'), http.get('/a')]) await send.expect(status);
  });

  it('count a HEAD as a GET', async () => {
    const { http } = await stageApp(routes, { rateLimits: ONE_EACH });
    await http.head('/global').expect(200);
    await http.get('/global').expect(429);
  });

  it('with a path parameter have one limit for all values', async () => {
    const { http } = await stageApp([probe(() => null, { path: '/probe/:value' })], { rateLimits: ONE_EACH });
    await http.get('/probe/a').expect(200);
    await http.get('/probe/b').expect(429);
  });

  it('that do not exist share one limit of the tier global', async () => {
    const { http } = await stageApp(routes, {
      rateLimits: { global: { requests: 3, window: 60_000 }, strict: null, public: null },
    });
    await http.get('/nowhere').expect(404);
    await http.post('/nowhere/else').expect(404);
    await http.delete('/global').expect(405);
    await http.get('/a/third/one').expect(429);
    await http.get('/global').expect(200);
  });
});

it('the routes of the specification have the tiers that it says', async () => {
  const tiers = Object.fromEntries((await declaredRoutes()).map(({ name, throttle }) => [name, throttle]));
  const ofGlobal = { refresh: 'global', 'clear-cookie': 'global', 'current-user': 'global' };
  const others = { login: 'strict', register: 'strict', errors: 'public', error: 'public', live: 'none' };
  expect(tiers).toMatchObject({ ...ofGlobal, ...others });
});

describe('a client', () => {
  const start = (given: Partial<StageDeps>) => stageApp(routes, { rateLimits: ONE_EACH, ...given });
  /** The statuses of requests with these values of X-Forwarded-For. */
  const statuses = async ({ http }: Awaited<ReturnType<typeof start>>, forwarded: readonly (string | null)[]) => {
    const seen: number[] = [];
    for (const value of forwarded) {
      const request = http.get('/global');
      seen.push((await (value === null ? request : request.set('X-Forwarded-For', value))).status);
    }
    return seen;
  };

  const LONG = '198.51.100.1, '.repeat(1_000);
  it.each<[by: string, proxies: number, forwarded: readonly (string | null)[], statuses: readonly number[]]>([
    ['its connection when no proxy is trusted', 0, [null, '192.0.2.1', '192.0.2.2, 192.0.2.3'], [200, 429, 429]],
    ['the last address behind one proxy', 1, ['192.0.2.1', '192.0.2.2', '192.0.2.1'], [200, 200, 429]],
    ['an address that it cannot spoof', 1, ['192.0.2.1', '198.51.100.1, 192.0.2.1', '1,2,192.0.2.1'], [200, 429, 429]],
    ['the end of a long list', 1, [`${LONG}192.0.2.1`, '192.0.2.1', `${LONG}192.0.2.2`], [200, 429, 200]],
    [
      'the last but one address behind two proxies',
      2,
      ['192.0.2.1, 203.0.113.1', '198.51.100.7, 192.0.2.1, 203.0.113.2', '192.0.2.2, 203.0.113.1'],
      [200, 429, 200],
    ],
    [
      'its connection when a proxy sends no valid address',
      1,
      [null, '', 'unknown', ',,,', '%'],
      [200, 429, 429, 429, 429],
    ],
  ])('is identified by %s', async (_by, trustProxy, forwarded, expected) => {
    expect(await statuses(await start({ trustProxy }), forwarded)).toEqual(expected);
  });
});

describe('a step of the system clock', () => {
  const HOUR = 3_600_000;
  const setBy = (step: number) => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + step });
  };

  it.each([HOUR, -HOUR])(
    'by %i ms admits no client that has used up its limits, on two routes in turn',
    async (step) => {
      const neighbours = ['a', 'b'].map((name) => probe(() => null, { name, path: `/${name}` }));
      const { http } = await stageApp(neighbours, { rateLimits: ONE_EACH });
      setBy(step);
      await http.get('/a').expect(200);
      await http.get('/b').expect(200);
      for (let turn = 0; turn < 3; turn += 1) {
        await http.get('/a').expect(429);
        await http.get('/b').expect(429);
      }
    },
  );
});
