import request, { type Response } from 'supertest';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../src/adapters/clock/system.ts';
import { createApp, type HttpHandlers } from '../../src/adapters/http/app.ts';
import { type Check, healthRoutes } from '../../src/adapters/http/routes/health.ts';
import { sequentialIds } from '../../src/adapters/id-generator/sequential.ts';
import { AppError } from '../../src/domain/errors/app-error.ts';
import { compose } from '../../src/infrastructure/compose.ts';
import { parseConfig } from '../../src/infrastructure/config.ts';
import { createLogger } from '../../src/infrastructure/logger.ts';
import { listen } from '../../src/infrastructure/server.ts';
import { VERSION } from '../../src/infrastructure/version.ts';
import { testKeys } from '../support/keys.ts';
import { temporaryDirectory } from '../support/storage.ts';

const logger = createLogger({ level: 'silent', environment: 'test', version: VERSION }, () => ({}));
const configOf = (env: Readonly<Record<string, string>>) => ({
  ...parseConfig({ NODE_ENV: 'test', PORT: '0', RATE_LIMIT_PUBLIC: 'off', ...env }),
  keys: testKeys(),
});

const cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const serve = async (handlers: HttpHandlers) => {
  const server = await listen(handlers, { host: '127.0.0.1', port: 0, requestTimeout: 30_000 });
  cleanups.push(server.close);
  return request(`http://127.0.0.1:${server.address.port}`);
};

/** The service over an embedded database, and how to take that away while the service runs. */
const overDatabase = async () => {
  const { path, remove } = temporaryDirectory();
  cleanups.push(remove);
  const service = await compose(configOf({ DATA_DIR: path }), logger);
  let closing: Promise<void> | undefined;
  const closeDatabase = () => {
    closing ??= service.close();
    return closing;
  };
  cleanups.push(closeDatabase);
  return { http: await serve(service.http), closeDatabase };
};

/** The health routes over parts that are up or down as the test likes. */
const overChecks = (checks: readonly Check[]) =>
  serve(
    createApp(healthRoutes(checks), {
      ...configOf({ DATABASE_URL: 'memory:' }),
      logger,
      clock: systemClock,
      ids: sequentialIds(),
      authenticate: async () => ({ ok: false, reason: 'nobody' }),
      version: VERSION,
      redis: null,
    }),
  );

const up = (name: string): Check => ({ name, ping: async () => undefined });
const down = (name: string): Check => ({
  name,
  ping: () => Promise.reject(new AppError('DB_QUERY_FAILED', { reason: 'postgres://user:secret@host' })),
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

describe('GET /health/live', () => {
  it('answers 200 in the success envelope, and needs no token', async () => {
    const { http } = await overDatabase();
    const response = await http.get('/health/live').set('Authorization', 'Bearer garbage').expect(200);
    expect(response.body).toStrictEqual({
      success: true,
      data: { status: 'live' },
      timestamp: expect.any(String),
      context: { requestId: response.get('svc-request-id'), version: VERSION },
    });
  });

  it('answers 200 without a database too: the process lives', async () => {
    const { http, closeDatabase } = await overDatabase();
    await closeDatabase();
    await http.get('/health/live').expect(200);
  });
});

describe('GET /health/ready', () => {
  it('answers 200 and names the parts that are up', async () => {
    const { http } = await overDatabase();
    const response = await http.get('/health/ready').expect(200);
    expect(response.body).toMatchObject({ success: true, data: { status: 'ready', checks: { database: 'up' } } });
  });

  it('answers 503 naming the database when that is gone', async () => {
    const { http, closeDatabase } = await overDatabase();
    await closeDatabase();
    expectNotReady(await http.get('/health/ready'), 'database');
  });

  it('names all that is down and nothing else, and tells no reason', async () => {
    const http = await overChecks([down('database'), up('clock'), down('redis')]);
    const response = await http.get('/health/ready');
    expectNotReady(response, 'database, redis');
    expect(response.text).not.toContain('secret');
  });

  it('is ready again when what was down is back', async () => {
    let present = false;
    const ping = () => (present ? up('database') : down('database')).ping();
    const http = await overChecks([{ name: 'database', ping }]);
    expectNotReady(await http.get('/health/ready'), 'database');
    present = true;
    await http.get('/health/ready').expect(200);
  });

  it('calls a part down that says nothing for 2 s', async () => {
    const asked = Promise.withResolvers<void>();
    const ping = () => {
      asked.resolve();
      return new Promise<never>(() => undefined);
    };
    const http = await overChecks([up('database'), { name: 'redis', ping }]);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    cleanups.push(() => void vi.useRealTimers());
    const answer = http.get('/health/ready').then((response) => response);
    await asked.promise;
    vi.advanceTimersByTime(2000);
    expectNotReady(await answer, 'redis');
  });
});
