import { describe, expect, it } from 'vitest';
import { fixedClock } from '../../../src/adapters/clock/fixed.ts';
import { RateLimitExceeded } from '../../../src/adapters/http/errors/exceptions.ts';
import { HttpFailure } from '../../../src/adapters/http/errors/http-failure.ts';
import { AppError } from '../../../src/domain/errors/app-error.ts';
import { probe, type StageApp, stageApp, throwing } from '../../support/http/stage-app.ts';

const clock = fixedClock(Date.UTC(2026, 0, 1, 12, 30, 15, 7));
const person = { id: 'u1', username: 'Ada', email: 'ada@example.org', createdAt: 0, updatedAt: 0 };
const claims = { sub: 'u1', iat: 0, exp: 1, jti: 't1', tokenType: 'access', user: person } as const;

describe('the error envelope', () => {
  // Proves: service-9, error-1, request-4, asvs-4.1.1
  it('has the members of the specification, and no others', async () => {
    const { http } = await stageApp([throwing(new AppError('DB_RECORD_NOT_FOUND'))], { clock });
    const answer = await http.get('/probe').set('svc-request-id', 'mine').expect(404);
    expect(answer.body).toEqual({
      success: false,
      code: 'DB_RECORD_NOT_FOUND',
      message: 'The record does not exist.',
      type: 'https://auth.example.org/errors/DB_RECORD_NOT_FOUND',
      timestamp: '2026-01-01T12:30:15.007Z',
      context: { requestId: 'mine', version: '1.2.3' },
      details: null,
    });
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(answer.headers['cache-control']).toBe('no-store');
  });

  it('has details where the parameters are at fault', async () => {
    const details = [{ field: 'a.b', message: 'is required', code: 'required' }];
    const { http } = await stageApp([throwing(new AppError('CLIENT_PARAMS_VALIDATION_FAILED', { details }))]);
    expect((await http.get('/probe').expect(400)).body.details).toEqual(details);
  });

  // Proves: error-9
  it('names the user of an authenticated request', async () => {
    const bug = probe(() => Promise.reject(new Error('a bug')), { auth: 'required' });
    const { http } = await stageApp([bug], {
      authenticate: async () => ({ ok: true, token: { claims, sessionId: 's1' } }),
    });
    const { body } = await http.get('/probe').set('Authorization', 'Bearer a').expect(500);
    expect(body.context.user).toEqual({ id: 'u1', username: 'Ada' });
  });

  it('goes out with the headers of its error', async () => {
    const error = new HttpFailure('AUTH_TOKEN_MISSING', { headers: { 'WWW-Authenticate': 'Bearer' } });
    const { http } = await stageApp([throwing(error)]);
    await http.get('/probe').expect(401).expect('WWW-Authenticate', 'Bearer');
  });

  it('has the header Retry-After when its error tells how long to wait', async () => {
    const error = new AppError('SYS_HTTP_UNEXPECTED_ERROR', { status: 503, retryAfter: 7 });
    const { http } = await stageApp([throwing(error)]);
    await http.get('/probe').expect(503).expect('Retry-After', '7');
  });

  it('has no header Retry-After otherwise', async () => {
    const { http } = await stageApp([throwing(new AppError('DB_QUERY_FAILED'))]);
    expect((await http.get('/probe').expect(500)).headers).not.toHaveProperty('retry-after');
  });

  it('replaces what a handler has begun to answer', async () => {
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

  // Proves: asvs-16.3.2
  it('keeps to itself why the error came about; the log is told the reason, and of the cause its kind and place', async () => {
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

  // Proves: asvs-16.3.4
  it.each<[string, AppError]>([
    ['an error of ours', new AppError('DB_QUERY_FAILED')],
    ['a busy part', new AppError('SYS_HTTP_UNEXPECTED_ERROR', { status: 503, level: 'error' })],
    ['an answer that could not be made', new AppError('SYS_SERIALIZATION_ERROR')],
  ])('is logged with the place where it came about, and no words of it: %s', async (_what, error) => {
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
  ])('has no place where the fault is of %s', async (_whose, error) => {
    const { http, logs } = await stageApp([throwing(error)]);
    await http.get('/probe').expect(error.status);
    expect(logs.find(({ code }) => code === error.code)).not.toHaveProperty('err');
  });

  // Proves: asvs-16.2.4
  it('is logged with the id of its request', async () => {
    const { http, logs } = await stageApp([throwing(new AppError('DB_QUERY_FAILED'))]);
    await http.get('/probe').set('svc-request-id', 'mine').expect(500);
    expect(logs.filter(({ requestId }) => requestId === 'mine').map(({ msg }) => msg)).toEqual([
      'A database query failed.',
      'request answered',
    ]);
  });

  it('has no body for HEAD, and the same headers', async () => {
    const { http } = await stageApp([throwing(new AppError('DB_RECORD_NOT_FOUND'))]);
    const get = await http.get('/probe').expect(404);
    const answer = await http.head('/probe').expect(404);
    expect(answer.text).toBeUndefined();
    expect(answer.headers['content-type']).toBe(get.headers['content-type']);
  });
});

describe('a code that its route does not declare', () => {
  const undeclaring = (exception: unknown) => probe(() => Promise.reject(exception), { errors: [] });
  const reports = ({ logs }: StageApp) => logs.filter(({ msg }) => msg === 'undeclared error code');

  it.each(['development', 'test'] as const)('fails the request in %s, and the log names it', async (environment) => {
    const app = await stageApp([undeclaring(new AppError('DB_RECORD_NOT_FOUND', { reason: 'gone' }))], { environment });
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

  it('reaches the client in production, and is logged as undeclared', async () => {
    const app = await stageApp([undeclaring(new AppError('DB_RECORD_NOT_FOUND'))], { environment: 'production' });
    const { body } = await app.http.get('/probe').expect(404);
    expect(body.code).toBe('DB_RECORD_NOT_FOUND');
    const report = { level: 'error', route: 'probe', code: 'DB_RECORD_NOT_FOUND' };
    expect(reports(app)).toEqual([expect.objectContaining(report)]);
  });

  it.each(['test', 'production'] as const)('is none that every route may answer with, in %s', async (environment) => {
    const app = await stageApp([undeclaring(new RateLimitExceeded(1))], { environment });
    await app.http.get('/probe').expect(429);
    expect(reports(app)).toEqual([]);
  });
});
