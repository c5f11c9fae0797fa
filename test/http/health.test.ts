import { stat } from 'node:fs/promises';
import request, { type Response } from 'supertest';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../src/adapters/clock/system.ts';
import { createApp, type HttpHandlers } from '../../src/adapters/http/app.ts';
import { logSampling } from '../../src/adapters/http/logging/log-sampling.ts';
import type { Check } from '../../src/adapters/http/request/settings.ts';
import { healthRoutes, withSharedPing } from '../../src/adapters/http/routes/service/health.ts';
import type { Route } from '../../src/adapters/http/routing/define-route.ts';
import { memoryCounts } from '../../src/adapters/limits/counts.ts';
import { AppError } from '../../src/domain/errors/app-error.ts';
import { userFailures } from '../../src/infrastructure/compose/pages.ts';
import { compose, type RunningService } from '../../src/infrastructure/compose.ts';
import { parseConfig } from '../../src/infrastructure/config.ts';
import { listen } from '../../src/infrastructure/http-server/server.ts';
import { createLogger } from '../../src/infrastructure/logging/log.ts';
import { PAGE_FILES } from '../../src/infrastructure/template-files.ts';
import { REVISION, VERSION } from '../../src/infrastructure/version.ts';
import { testKeys } from '../support/keys.ts';
import { watchAnswers } from '../support/openapi/watched.ts';
import { blockEventLoop } from '../support/processes/block-event-loop.ts';
import { sequentialIds } from '../support/sequential-ids.ts';
import { silentLogger } from '../support/silent-logger.ts';
import { temporaryDirectory } from '../support/storage/temporary-directory.ts';

const configOf = (env: Readonly<Record<string, string>>) => ({
  ...parseConfig({ NODE_ENV: 'test', PORT: '0', RATE_LIMITS: 'off', ...env }),
  keys: testKeys(),
});

const serve = async (served: HttpHandlers, routes: readonly Route[]) => {
  const { handlers, assertDocumented } = watchAnswers(served, routes);
  const server = await listen(handlers, { host: '127.0.0.1', port: 0, requestTimeoutMs: 30_000 });
  const close = async () => {
    await server.close();
    assertDocumented();
  };
  return { http: request(`http://127.0.0.1:${server.address.port}`), close };
};

const servers: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

/** The health routes with the given checks. */
const withChecks = async (checks: readonly Check[], logger = silentLogger) => {
  const routes = healthRoutes(checks, () => false, null);
  const server = await serve(
    createApp(routes, {
      ...configOf({}),
      logger,
      sampling: logSampling(logger),
      clock: systemClock,
      ids: sequentialIds(),
      authenticate: async () => ({ ok: false, reason: 'unknown_key' }),
      assertSteppedUp: async () => undefined,
      visitorToken: async () => undefined,
      renderUserError: userFailures(configOf({}), PAGE_FILES.builtIn),
      version: VERSION,
      counts: memoryCounts(),
      answerOnce: (_ctx, _fields, work) => work(),
    }),
    routes,
  );
  servers.push(server);
  return server.http;
};

const up = (name: string): Check => ({ name, ping: async () => undefined, required: true });
const down = (name: string): Check => ({
  name,
  ping: () => Promise.reject(new AppError('DB_QUERY_FAILED', { reason: 'postgres://user:secret@host' })),
  required: true,
});

const expectNotReady = (response: Response, parts: string): void => {
  expect(response.status).toBe(503);
  expect(response.body).toMatchObject({
    success: false,
    code: 'SYS_HTTP_UNEXPECTED_ERROR',
    message: `Not ready; down: ${parts}.`,
    details: null,
  });
  expect(response.get('Retry-After')).toBe('1');
};

describe('the service over a database', () => {
  const { path, remove } = temporaryDirectory();
  let service: RunningService;
  let server: Awaited<ReturnType<typeof serve>>;
  let http: typeof server.http;
  beforeAll(async () => {
    service = await compose(configOf({ DATA_DIR: path }), silentLogger);
    server = await serve(service.http, service.routes);
    http = server.http;
  });
  afterAll(async () => {
    await server.close();
    remove();
  });

  it('is alive: GET /health/live answers in the success envelope, whatever the token', async () => {
    const response = await http.get('/health/live').set('Authorization', 'Bearer garbage').expect(200);
    expect(response.body).toStrictEqual({
      success: true,
      data: { status: 'live', revision: REVISION },
      timestamp: expect.any(String),
      context: { requestId: response.get('svc-request-id'), version: VERSION },
    });
  });

  it('is ready: GET /health/ready lists the checks that are up', async () => {
    const response = await http.get('/health/ready').set('Authorization', 'Bearer garbage').expect(200);
    expect(response.body).toMatchObject({ success: true, data: { status: 'ready', checks: { database: 'up' } } });
  });

  it('is still alive after it is closed, and not ready', async () => {
    await service.close();
    await http.get('/health/live').expect(200);
    expectNotReady(await http.get('/health/ready'), 'database, tables');
  });
});

describe('GET /health/ready', () => {
  it('reports every check that is down and no other, without a reason', async () => {
    const http = await withChecks([down('database'), up('clock'), down('redis')]);
    const response = await http.get('/health/ready');
    expectNotReady(response, 'database, redis');
    expect(response.text).not.toContain('secret');
  });

  it('logs the reason why a check is down', async () => {
    const lines: string[] = [];
    const destination = { write: (line: string) => void lines.push(line) };
    const options = { level: 'error', nodeEnv: 'production', destination } as const;
    const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    const database = { name: 'database', ping: () => Promise.reject(refused), required: true };
    const refuse = () => {
      throw new AppError('DB_QUERY_FAILED', { reason: 'closed' });
    };
    const throwing = { name: 'own', ping: refuse, required: true };
    const http = await withChecks([database, throwing], createLogger(options));
    expectNotReady(await http.get('/health/ready'), 'database, own');
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { msg: 'Not ready; down: database, own.', reason: 'database: Error ECONNREFUSED; own: closed' },
    ]);
  });

  it('is degraded but ready when an optional check is down', async () => {
    const http = await withChecks([up('database'), { ...down('redis'), required: false }]);
    const response = await http.get('/health/ready').expect(200);
    expect(response.body.data).toEqual({ status: 'degraded', checks: { database: 'up', redis: 'down' } });
  });

  it.each([
    ['reports a check as down that has not responded for 2 s', true, 2_100],
    ['waits half a second for one that is not required', false, 600],
  ])('%s', async (_does, required, waited) => {
    const asked = Promise.withResolvers<void>();
    const ping = () => {
      asked.resolve();
      return new Promise<never>(() => undefined);
    };
    const http = await withChecks([up('database'), { name: 'redis', ping, required }]);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'clearImmediate'] });
    const pending = http.get('/health/ready').then((response) => response);
    await asked.promise;
    await vi.advanceTimersByTimeAsync(waited);
    if (required) expectNotReady(await pending, 'redis');
    else expect((await pending).body.data).toMatchObject({ status: 'degraded', checks: { redis: 'down' } });
  });

  it('reports a check as up that has responded while the event loop was blocked', async () => {
    const ping = () => {
      const pending = stat('.');
      blockEventLoop(2_100);
      return pending;
    };
    const http = await withChecks([{ name: 'database', ping, required: true }]);
    await http.get('/health/ready').expect(200);
  });
});

it('a check that is asked once at a time has one outcome for all who ask meanwhile, and is asked again afterwards, also after a failure', async () => {
  const asked: PromiseWithResolvers<void>[] = [];
  const check = withSharedPing({
    name: 'database',
    required: true,
    ping: () => {
      const ping = Promise.withResolvers<void>();
      asked.push(ping);
      return ping.promise;
    },
  });
  const first = Promise.allSettled([check.ping(), check.ping(), check.ping()]);
  asked[0]?.reject(new Error('away'));
  expect((await first).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  const second = Promise.all([check.ping(), check.ping()]);
  asked[1]?.resolve();
  await second;
  expect(asked).toHaveLength(2);
});
