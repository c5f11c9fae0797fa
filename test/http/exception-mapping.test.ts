// Proves SPEC 12.30, 19.1, 20.19, 20.21, 21.1, 21.2, 21.3, 21.4, 21.5, 21.6, 21.7, 21.8, 21.9, 21.11; ASVS 16.3.4
import { gzipSync } from 'node:zlib';
import createHttpError from 'http-errors';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { ResponseSerializationFailure, validationFailure } from '../../src/adapters/http/errors/exceptions.ts';
import { AppError } from '../../src/domain/errors/app-error.ts';
import type { ErrorCode } from '../../src/domain/errors/catalog.ts';
import { head, openSocket } from '../support/http/raw-http.ts';
import { type StageApp, stageApp, throwing, upload } from '../support/http/stage-app.ts';

/** An error as another copy of `http-errors` creates it. */
const foreignHttpError = (status: number, more: object = {}) =>
  Object.assign(new Error('made elsewhere'), { status, statusCode: status, expose: status < 500, ...more });

/** As koa-ratelimit throws it. */
const exceeded = createHttpError(429, { headers: { 'Retry-After': 7 } });

class OwnError extends AppError {}

const PROBLEM = { field: 'a', message: 'is required', code: 'required' } as const;
const anIssue = v.safeParse(v.string(), 1).issues ?? [];

/** SPEC "Exception mapping": exceptions, and the status, code and log level that they are mapped to. */
const MAPPING: readonly (readonly [what: string, thrown: unknown, status: number, code: ErrorCode, level: string])[] = [
  ['an application exception', new AppError('AUTH_USER_DUPLICATE'), 409, 'AUTH_USER_DUPLICATE', 'info'],
  ['another one', new AppError('DB_QUERY_FAILED'), 500, 'DB_QUERY_FAILED', 'error'],
  [
    'an application exception with its own level',
    new AppError('AUTH_FAILED', { level: 'warn' }),
    401,
    'AUTH_FAILED',
    'warn',
  ],
  [
    'a subclass with its own status and level',
    new OwnError('SYS_HTTP_UNEXPECTED_ERROR', { status: 418, level: 'fatal' }),
    418,
    'SYS_HTTP_UNEXPECTED_ERROR',
    'fatal',
  ],
  [
    'a request that does not match its schema',
    validationFailure([PROBLEM]),
    400,
    'CLIENT_PARAMS_VALIDATION_FAILED',
    'info',
  ],
  [
    'a payload that does not match its schema',
    new ResponseSerializationFailure(anIssue),
    500,
    'SYS_SERIALIZATION_ERROR',
    'error',
  ],
  ['an exceeded limit', exceeded, 429, 'CLIENT_REQUEST_RATE_LIMIT_EXCEEDED', 'warn'],
  ['a 4xx HTTP error', createHttpError(422), 422, 'SYS_HTTP_UNEXPECTED_ERROR', 'error'],
  ['a 5xx HTTP error', createHttpError(500), 500, 'SYS_HTTP_UNEXPECTED_ERROR', 'fatal'],
  ['a 502 HTTP error', createHttpError(502), 502, 'SYS_HTTP_UNEXPECTED_ERROR', 'fatal'],
  ['a 503 HTTP error', createHttpError(503), 503, 'SYS_HTTP_UNEXPECTED_ERROR', 'error'],
  ['an HTTP error of another copy of http-errors', foreignHttpError(413), 413, 'SYS_HTTP_UNEXPECTED_ERROR', 'error'],
  ['an error', new Error('a bug'), 500, 'SYS_UNEXPECTED_ERROR', 'fatal'],
  ['a TypeError', new TypeError('x is not a function'), 500, 'SYS_UNEXPECTED_ERROR', 'fatal'],
  ['a system error', Object.assign(new Error(), { code: 'ENOENT' }), 500, 'SYS_UNEXPECTED_ERROR', 'fatal'],
  ['a string', 'x', 500, 'SYS_UNEXPECTED_ERROR', 'fatal'],
  ['null', null, 500, 'SYS_UNEXPECTED_ERROR', 'fatal'],
  ['undefined', undefined, 500, 'SYS_UNEXPECTED_ERROR', 'fatal'],
  ['a number', 404, 500, 'SYS_UNEXPECTED_ERROR', 'fatal'],
  ['an object that looks like an HTTP error', { status: 404, expose: true }, 500, 'SYS_UNEXPECTED_ERROR', 'fatal'],
];

/** The log lines about an exception: those with a code. */
const exceptionLines = ({ logs }: StageApp) => logs.filter(({ code }) => code !== undefined);

it.each(MAPPING)('an exception is mapped: %s', async (_what, thrown, status, code, level) => {
  const app = await stageApp([throwing(thrown)]);
  const { body } = await app.http.get('/probe').expect(status);
  expect(body).toMatchObject({
    success: false,
    code,
    message: expect.stringMatching(/./),
    type: `https://auth.example.org/errors/${code}`,
  });
  expect(exceptionLines(app)).toEqual([expect.objectContaining({ code, level, requestId: body.context.requestId })]);
});

describe('an HTTP error', () => {
  it('keeps its headers', async () => {
    const { http } = await stageApp([throwing(createHttpError(503, { headers: { 'Retry-After': '30' } }))]);
    await http.get('/probe').expect(503).expect('Retry-After', '30');
  });

  it('does not show or log its message, since the body parser may quote the body', async () => {
    const app = await stageApp([
      throwing(foreignHttpError(400, { message: 'hunter22', body: 'hunter22', type: 'x.y' })),
    ]);
    const { text, body } = await app.http.get('/probe').expect(400);
    expect(body.message).toContain('Bad Request');
    expect(text + JSON.stringify(app.logs)).not.toContain('hunter22');
    expect(exceptionLines(app)).toEqual([expect.objectContaining({ reason: 'Error x.y' })]);
  });

  it.each([
    ['a status below 400', foreignHttpError(200)],
    ['a status that does not exist', foreignHttpError(999)],
    ['a status that is a string', foreignHttpError(404, { status: '404' })],
    ['no member `expose`', Object.assign(new Error(), { status: 404 })],
  ])('is treated as an unexpected error with %s', async (_what, thrown) => {
    const { http } = await stageApp([throwing(thrown)]);
    expect((await http.get('/probe').expect(500)).body.code).toBe('SYS_UNEXPECTED_ERROR');
  });
});

describe('a client that hangs up', () => {
  const answered = (app: StageApp) => app.logs.filter(({ msg }) => msg === 'request answered');
  const ALARMING_LEVELS = ['warn', 'error', 'fatal'];

  it.each([
    ['plain', 'identity', Buffer.from('{"name":')],
    ['compressed', 'gzip', gzipSync('{"name":"ada"}').subarray(0, 12)],
  ])('during its %s body causes no warning and no error in the log', async (_what, encoding, part) => {
    const app = await stageApp([upload()]);
    const socket = openSocket(app.url);
    const headers = { 'Content-Type': 'application/json', 'Content-Encoding': encoding, Expect: '100-continue' };
    socket.write(head('POST /upload', { ...headers, 'Content-Length': '40' }));
    // The interim response 100 shows that the server has read the head.
    await new Promise((resolve) => socket.once('data', resolve));
    socket.write(part, () => socket.destroy());

    await expect.poll(() => answered(app)).toHaveLength(1);
    expect(answered(app)[0]).toMatchObject({ status: 400, route: 'upload' });
    expect(app.logs.filter(({ level }) => ALARMING_LEVELS.includes(level))).toEqual([]);
  });
});
