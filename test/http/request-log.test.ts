// Proves SPEC 12.29, 24.1, 24.2, 24.3, 24.4, 24.5
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { monotonicTime } from '../../src/adapters/clock/system.ts';
import { memoryStorage } from '../../src/adapters/records/memory.ts';
import { parseConfig } from '../../src/infrastructure/config.ts';
import { startService } from '../support/http/service.ts';
import { probe, type StageApp, stageApp, throwing } from '../support/http/stage-app.ts';

const answered = ({ logs }: Pick<StageApp, 'logs'>) => logs.filter(({ msg }) => msg === 'request answered');

/** A route whose start time, as stage 9 records it, is so many milliseconds ago. */
const routeThatTook = (milliseconds: number, path: string) =>
  probe(
    (_input, ctx) => {
      ctx.state.startedAt = monotonicTime() - milliseconds;
      if (path === '/fail') throw new Error('a bug');
      return null;
    },
    { path: path as `/${string}` },
  );

describe('the level of a request', () => {
  const { slowRequestThresholds } = parseConfig({});

  it.each([
    [0, '/probe', 'debug'],
    [500, '/probe', 'debug'],
    [1_000, '/probe', 'warn'],
    [2_000, '/probe', 'warn'],
    [3_000, '/probe', 'error'],
    [60_000, '/probe', 'error'],
    [500, '/fail', 'info'],
    [1_000, '/fail', 'warn'],
    [3_000, '/fail', 'error'],
  ])('of %i ms, on %s and with the default thresholds, is %s', async (milliseconds, path, level) => {
    const app = await stageApp([routeThatTook(milliseconds, path)], { slowRequestThresholds });
    await app.http.get(path);
    expect(answered(app)).toEqual([expect.objectContaining({ level })]);
  });

  it('depends on SLOW_REQUEST_THRESHOLDS', async () => {
    const service = await startService({ SLOW_REQUEST_THRESHOLDS: '{"warn":0,"error":600000}' });
    await service.http.get('/health/live').expect(200);
    await service.close();
    expect(answered(service)).toEqual([expect.objectContaining({ level: 'warn', route: 'live' })]);
  });
});

describe('the log line of a request', () => {
  it('contains request id, method, route, status and duration', async () => {
    const app = await stageApp([routeThatTook(1_234, '/probe')]);
    await app.http.get('/probe').set('svc-request-id', 'mine').expect(200);
    const [line] = answered(app);
    expect(line).toMatchObject({ requestId: 'mine', method: 'GET', route: 'probe', status: 200 });
    expect(line?.duration).toSatisfy((duration) => Number.isInteger(duration) && Number(duration) >= 1_234);
  });

  it.each([
    ['a success', 200, 'get', '/ok', {}, 'ok'],
    ['a HEAD', 200, 'head', '/ok', {}, 'ok'],
    ['a preflight', 204, 'options', '/ok', {}, undefined],
    ['a forbidden origin', 403, 'get', '/ok', { Origin: 'https://elsewhere.example' }, undefined],
    ['a missing token', 401, 'get', '/guarded', {}, 'guarded'],
    ['an unknown path', 404, 'get', '/nowhere', {}, 'fallback'],
    ['another method', 405, 'put', '/ok', {}, 'fallback'],
    ['a bug', 500, 'get', '/probe', {}, 'probe'],
    ['a handler that never ends', 503, 'get', '/hanging', {}, 'hanging'],
  ] as const)('is written once for %s', async (_what, status, method, path, headers, name) => {
    const routes = [
      probe(() => null, { name: 'ok', path: '/ok' }),
      probe(() => null, { name: 'guarded', path: '/guarded', auth: 'required' }),
      probe(() => new Promise(() => undefined), { name: 'hanging', path: '/hanging' }),
      throwing(new Error('a bug')),
    ];
    const app = await stageApp(routes, { requestTimeoutMs: 200 });
    const response = await app.http[method](path).set(headers).expect(status);
    const [line, ...more] = answered(app);
    expect(more).toEqual([]);
    const level = status < 400 ? 'debug' : 'info';
    expect(line).toMatchObject({ level, method: method.toUpperCase(), status, duration: expect.any(Number) });
    expect(line?.requestId).toBe(response.headers['svc-request-id']);
    expect(line?.route).toBe(name);
  });
});

describe('the duration of a request', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['performance'] });
  });

  const person = { id: 'u1', username: 'Ada', email: 'ada@example.org', createdAt: 0, updatedAt: 0 };
  const claims = { sub: 'u1', iat: 0, exp: 1, jti: 't1', tokenType: 'access', user: person } as const;
  /** A guard that takes two seconds and accepts `Bearer a`. */
  const authenticate = async (token: string) => {
    vi.advanceTimersByTime(2_000);
    return token === 'a' ? ({ ok: true, token: { claims, sessionId: 's1' } } as const) : NOBODY;
  };
  const NOBODY = { ok: false, reason: 'unknown_key' } as const;

  const observed = async (authorization: string, status: number) => {
    const seen: (readonly [route: string, status: number, duration: number])[] = [];
    const handler = () => {
      vi.advanceTimersByTime(500);
      return null;
    };
    const app = await stageApp([probe(handler, { auth: 'required' })], {
      authenticate,
      onRequest: (...request) => seen.push(request),
    });
    await app.http.get('/probe').set('Authorization', authorization).expect(status);
    return { seen, logged: answered(app).map(({ duration, level }) => ({ duration, level })) };
  };

  it('counts from its arrival in the metrics, and from stage 9 in the log', async () => {
    const { seen, logged } = await observed('Bearer a', 200);
    expect(seen).toEqual([['probe', 200, 2_500]]);
    expect(logged).toEqual([{ duration: 500, level: 'debug' }]);
  });

  it('is the same in both when the request ended before stage 9', async () => {
    const { seen, logged } = await observed('Bearer b', 401);
    expect(seen).toEqual([['probe', 401, 2_000]]);
    expect(logged).toEqual([{ duration: 2_000, level: 'warn' }]);
  });
});

describe('the path in the log line of a request', () => {
  const routes = [probe(() => null, { path: '/items/:id' })];
  const secret = 'hunter22';

  it.each([
    ['a route', `/items/${secret}`, { route: 'probe', path: '/items/:id' }],
    ['no route', `/${secret}`, { route: 'fallback', path: '/*' }],
  ])('is that of its route, for %s', async (_what, target, line) => {
    const app = await stageApp(routes);
    await app.http.get(target);
    expect(answered(app)).toEqual([expect.objectContaining(line)]);
    expect(JSON.stringify(app.logs)).not.toContain(secret);
  });

  it('is logged as sent too when detailed logging is on, without its query and up to 200 characters', async () => {
    const app = await stageApp(routes, { environment: 'development' });
    await app.http.get(`/nowhere?token=${secret}`);
    await app.http.get(`/${'a'.repeat(1_000)}`);
    expect(answered(app).map(({ target }) => target)).toEqual(['/nowhere', `/${'a'.repeat(199)}`]);
    expect(JSON.stringify(app.logs)).not.toContain(secret);
  });
});

it('the log line of a refused request contains code and reason when detailed logging is on', async () => {
  const app = await stageApp([probe(() => null)], { environment: 'development' });
  await app.http.get('/nowhere');
  await app.http.get('/probe?a=b');
  await app.http.get('/probe').set('Origin', 'http://127.0.0.1:4210');
  expect(answered(app).map(({ code, reason }) => [code, reason])).toEqual([
    ['SYS_HTTP_UNEXPECTED_ERROR', 'no route has this path'],
    ['CLIENT_PARAMS_VALIDATION_FAILED', 'a is unknown'],
    ['SYS_HTTP_UNEXPECTED_ERROR', 'origin http://127.0.0.1:4210 is not in ALLOWED_ORIGINS_DEV'],
  ]);
});

it('in development every request is logged, without sampling', async () => {
  const service = await startService({ NODE_ENV: 'development', REDIS_URL: '' }, { storage: memoryStorage() });
  for (let times = 0; times < 12; times++) await service.http.get('/nowhere').set('Origin', 'http://127.0.0.1:4210');
  await service.close();
  expect(answered(service)).toHaveLength(12);
});
