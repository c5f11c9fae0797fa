// Proves SPEC 1.9, 1.10, 6.1, 6.2, 6.4, 6.5, 6.6, 6.8, 6.10, 12.4, 19.1, 19.3, 20.1, 20.14, 25.4; ASVS 4.1.1, 16.2.4, 16.3.2, 16.3.4
import createHttpError from 'http-errors';
import { describe, expect, it } from 'vitest';
import { listErrors } from '../../../src/application/browse-catalog.ts';
import { AppError, type AppErrorOptions } from '../../../src/domain/errors/app-error.ts';
import { CATALOG, type ErrorCode } from '../../../src/domain/errors/catalog.ts';
import { fixedClock } from '../../support/fixed-clock.ts';
import { probe, type StageApp, stageApp, throwing } from '../../support/http/stage-app.ts';

const clock = fixedClock(Date.UTC(2026, 0, 1, 12, 30, 15, 7));

/** What these codes never come without. */
const BESIDE: Readonly<Record<string, AppErrorOptions>> = {
  CLIENT_PARAMS_VALIDATION_FAILED: { details: [{ field: 'a', message: 'is required', code: 'required' }] },
  CLIENT_REQUEST_RATE_LIMIT_EXCEEDED: { retryAfter: 1 },
};

describe('the error envelope', () => {
  it.each(listErrors(CATALOG))('of $code has exactly the specified members', async ({ code, status, message }) => {
    const { http } = await stageApp([throwing(new AppError(code as ErrorCode, BESIDE[code]))], { clock });
    const response = await http.get('/probe').set('svc-request-id', 'mine').expect(status);
    expect(response.body).toEqual({
      success: false,
      code,
      message,
      type: `https://auth.example.org/errors/${code}`,
      timestamp: '2026-01-01T12:30:15.007Z',
      context: { requestId: 'mine', version: '1.2.3' },
      details: BESIDE[code]?.details ?? null,
    });
    expect(response.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(response.headers['cache-control']).toBe('no-store');
  });

  it('replaces a response that the handler has begun', async () => {
    const halfway = probe((_input, ctx) => {
      ctx.type = 'text/html';
      ctx.body = '<p>half an answer</p>';
      ctx.status = 202;
      throw new AppError('DB_QUERY_FAILED');
    });
    const { http } = await stageApp([halfway]);
    const { body } = await http.get('/probe').expect(500).expect('Content-Type', 'application/json; charset=utf-8');
    expect(body.code).toBe('DB_QUERY_FAILED');
  });

  it('does not contain the reason of the error; the log contains it, with the type and stack frames of the cause', async () => {
    const cause = new Error('connection to 10.0.0.1 refused');
    const { http, logs } = await stageApp([
      throwing(new AppError('DB_QUERY_FAILED', { cause, reason: 'no database' })),
    ]);
    const { text } = await http.get('/probe').expect(500);
    expect(text).not.toMatch(/10\.0\.0\.1|no database|stack/);
    expect(logs.find(({ code }) => code === 'DB_QUERY_FAILED')).toMatchObject({
      level: 'error',
      reason: 'no database',
      route: 'probe',
      err: { type: 'Error', stack: expect.stringContaining('error-envelope.test.ts') },
    });
    expect(JSON.stringify(logs)).not.toContain('10.0.0.1');
  });

  it.each<[string, AppError]>([
    ['an AppError', new AppError('DB_QUERY_FAILED')],
    ['a busy part', new AppError('SYS_HTTP_UNEXPECTED_ERROR', { status: 503, level: 'error' })],
    ['a response that could not be serialized', new AppError('SYS_SERIALIZATION_ERROR')],
  ])('is logged with stack frames and without its message: %s', async (_what, error) => {
    const { http, logs } = await stageApp([throwing(error)]);
    await http.get('/probe').expect(error.status);
    const [line] = logs.filter(({ code }) => code === error.code);
    expect(line?.err).toEqual({ type: 'AppError', stack: expect.stringContaining('error-envelope.test.ts') });
    for (const frame of String(Reflect.get(Object(line?.err), 'stack')).split('\n')) expect(frame).toMatch(/^ {4}at /);
  });

  it.each<[string, AppError]>([
    ['a client', new AppError('AUTH_CREDENTIALS_INVALID')],
    [
      'a client, though it is logged at error',
      new AppError('SYS_HTTP_UNEXPECTED_ERROR', { status: 404, level: 'error' }),
    ],
  ])('is logged without stack frames when it is caused by %s', async (_whose, error) => {
    const { http, logs } = await stageApp([throwing(error)]);
    await http.get('/probe').expect(error.status);
    expect(logs.find(({ code }) => code === error.code)).not.toHaveProperty('err');
  });
});

describe('an undeclared error code', () => {
  const rejectingRoute = (exception: unknown) => probe(() => Promise.reject(exception), { errors: [] });
  const reports = ({ logs }: StageApp) => logs.filter(({ msg }) => msg === 'undeclared error code');

  it.each(['development', 'test'] as const)('fails the request in %s, and is logged', async (nodeEnv) => {
    const app = await stageApp([rejectingRoute(new AppError('DB_RECORD_NOT_FOUND', { reason: 'gone' }))], { nodeEnv });
    const { body } = await app.http.get('/probe').expect(500);
    expect(body.code).toBe('SYS_UNEXPECTED_ERROR');
    expect(app.logs.filter(({ level }) => level === 'fatal')).toEqual([
      expect.objectContaining({
        code: 'SYS_UNEXPECTED_ERROR',
        route: 'probe',
        reason: 'undeclared error code DB_RECORD_NOT_FOUND',
        err: expect.objectContaining({ code: 'DB_RECORD_NOT_FOUND' }),
      }),
    ]);
  });

  it('is returned to the client in production, and is logged as undeclared', async () => {
    const app = await stageApp([rejectingRoute(new AppError('DB_RECORD_NOT_FOUND'))], { nodeEnv: 'production' });
    const { body } = await app.http.get('/probe').expect(404);
    expect(body.code).toBe('DB_RECORD_NOT_FOUND');
    const report = { level: 'error', route: 'probe', code: 'DB_RECORD_NOT_FOUND' };
    expect(reports(app)).toEqual([expect.objectContaining(report)]);
    expect(app.undocumented()).toEqual([expect.stringContaining('GET /probe 404: ')]);
  });

  it.each(['test', 'production'] as const)(
    'is not one of those that every route can return, in %s',
    async (nodeEnv) => {
      const app = await stageApp([rejectingRoute(createHttpError(429))], { nodeEnv });
      await app.http.get('/probe').expect(429);
      expect(reports(app)).toEqual([]);
    },
  );
});
