// Proves SPEC 12.27, 12.30; ASVS 16.3.4
import { once } from 'node:events';
import { createServer } from 'node:http';
import createHttpError from 'http-errors';
import Koa from 'koa';
import request from 'supertest';
import { describe, expect, it, onTestFinished } from 'vitest';
import { HttpFailure } from '../../src/adapters/http/errors/exceptions.ts';
import { lastResort } from '../../src/adapters/http/errors/last-resort.ts';
import { head, openSocket } from '../support/http/raw-http.ts';
import {
  probe,
  type StageApp,
  type StageDeps,
  stageApp,
  stageDeps,
  throwing,
  ULID,
} from '../support/http/stage-app.ts';

/** An error that throws on any access. */
const throwingProxy = () => {
  const refuse = () => {
    throw new Error('hands off');
  };
  return new Proxy(new Error('a bug'), {
    get: refuse,
    has: refuse,
    getPrototypeOf: refuse,
    getOwnPropertyDescriptor: refuse,
  });
};

const withGetter = (name: string) =>
  Object.defineProperty(new Error('a bug'), name, {
    get: () => {
      throw new Error('hands off');
    },
  });

const cycle = () => {
  const loop: Record<string, unknown> = {};
  loop.self = loop;
  return loop;
};

const faults = ({ logs }: Pick<StageApp, 'logs'>) => logs.filter(({ level }) => level === 'fatal' || level === 'error');

/** Answered 500 in the envelope with the request id, and logged once, at error or fatal. */
const expectAnswered = async (app: StageApp, code = 'SYS_UNEXPECTED_ERROR') => {
  const { body, headers } = await app.http.get('/probe').expect(500);
  expect(body).toEqual({
    success: false,
    code,
    message: expect.stringMatching(/\S/),
    type: `https://auth.example.org/errors/${code}`,
    timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    context: { requestId: expect.stringMatching(ULID), version: '1.2.3' },
    details: null,
  });
  expect(headers).toMatchObject({
    'svc-request-id': body.context.requestId,
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    'content-security-policy': expect.stringContaining("default-src 'none'"),
  });
  expect(faults(app)).toEqual([expect.objectContaining({ code, requestId: body.context.requestId })]);
  expect(app.logs.filter(({ msg }) => msg === 'request answered')).toHaveLength(1);
};

it.each([
  ['a proxy that throws', throwingProxy()],
  ['an error without a prototype', Object.setPrototypeOf(new Error('a bug'), null)],
  ['an error whose message throws', withGetter('message')],
  ['an error whose name throws', withGetter('name')],
  ['an error whose status throws', Object.assign(withGetter('status'), { expose: true })],
  ['an error whose stack is a number', Object.assign(new Error('a bug'), { stack: 1 })],
  ['an error with a cause that throws', new Error('a bug', { cause: throwingProxy() })],
  ['a symbol', Symbol('a')],
])('an exception that is hard to inspect is answered and logged: %s', async (_what, thrown) => {
  await expectAnswered(await stageApp([throwing(thrown)]));
});

it.each([
  ['a bigint', () => 1n],
  ['a cycle', cycle],
  [
    'a toJSON that throws',
    () => ({
      toJSON: () => {
        throw new Error('no');
      },
    }),
  ],
])('a payload that cannot be serialized is SYS_SERIALIZATION_ERROR: %s', async (_what, payload) => {
  await expectAnswered(await stageApp([probe(payload)]), 'SYS_SERIALIZATION_ERROR');
});

describe('an exception in stage 13', () => {
  const BROKEN_CLOCK: Partial<StageDeps> = { clock: { now: () => Number.NaN } };
  const BROKEN_IDS: Partial<StageDeps> = { ids: { next: () => JSON.parse('{') } };

  it.each([
    ['a clock that returns NaN', probe(() => null), BROKEN_CLOCK],
    ['an id generator that throws', probe(() => null), BROKEN_IDS],
    ['an invalid header of an HTTP error', throwing(createHttpError(503, { headers: { 'Retry-After': 'a\nb' } })), {}],
    ['an invalid header of an HttpFailure', throwing(new HttpFailure('DB_QUERY_FAILED', { headers: { A: '\0' } })), {}],
  ])('is answered in the envelope: %s', async (_what, route, given) => {
    const { http, logs } = await stageApp([route], given);
    const { body, headers } = await http.get('/probe').expect(500);
    expect(body).toMatchObject({ success: false, code: 'SYS_UNEXPECTED_ERROR', details: null });
    expect(body.context.requestId).toMatch(ULID);
    expect(headers['svc-request-id']).toBe(body.context.requestId);
    expect(headers['content-security-policy']).toContain("default-src 'none'");
    expect(logs).toContainEqual(
      expect.objectContaining({
        level: 'fatal',
        code: 'SYS_UNEXPECTED_ERROR',
        requestId: body.context.requestId,
        err: expect.objectContaining({ stack: expect.stringMatching(/^ {4}at /) }),
      }),
    );
    expect(logs).toContainEqual(expect.objectContaining({ msg: 'request answered', status: 500 }));
  });

  it('does not stop the service when the log fails too', async () => {
    const { logger } = stageDeps();
    const write = () => {
      throw new Error('no space left on device');
    };
    const app = await stageApp([throwing(new Error('a bug'))], {
      logger: Object.assign(logger.child({}), { fatal: write }),
    });
    const { body } = await app.http.get('/probe').expect(500);
    expect(body.code).toBe('SYS_UNEXPECTED_ERROR');
    expect((await app.http.get('/probe').expect(500)).body.code).toBe('SYS_UNEXPECTED_ERROR');
  });

  it('has a response without the cookie that the handler has set', async () => {
    const route = probe((_input, ctx) => {
      ctx.set('Set-Cookie', 'refresh_token=a');
      throw new HttpFailure('DB_QUERY_FAILED', { headers: { A: '\0' } });
    });
    const { headers } = await (await stageApp([route])).http.get('/probe').expect(500);
    expect(headers['set-cookie']).toBeUndefined();
  });
});

describe('a response that fails', () => {
  /** Koa with the error handler alone, since no route of the service writes to the socket itself. */
  const writing = async (part: string) => {
    const { logs, ...deps } = stageDeps();
    const koa = new Koa().use(async ({ res }) => {
      await new Promise<void>((resolve) => (part === '' ? resolve() : res.write(part, () => resolve())));
      throw new Error('hunter22');
    });
    koa.context.onerror = lastResort(deps);
    const server = createServer(koa.callback()).listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    return { http: request(server), logs };
  };

  it('before its head is sent is replaced by the error envelope', async () => {
    const app = await writing('');
    const { body } = await app.http.get('/').expect(500);
    expect(body).toMatchObject({ success: false, code: 'SYS_UNEXPECTED_ERROR' });
    expect(faults(app)).toEqual([expect.objectContaining({ code: 'SYS_UNEXPECTED_ERROR' })]);
    expect(JSON.stringify([body, app.logs])).not.toContain('hunter22');
  });

  it('after its head is sent closes the connection, so that it does not look complete, and is logged', async () => {
    const app = await writing('half an answer');
    await expect(app.http.get('/')).rejects.toThrow();
    expect(faults(app)).toEqual([expect.objectContaining({ code: 'SYS_UNEXPECTED_ERROR' })]);
  });

  it('because the client has disconnected is not logged as an error', async () => {
    const entered = Promise.withResolvers<void>();
    const gone = Promise.withResolvers<void>();
    const route = probe(async (_input, ctx) => {
      ctx.req.once('close', gone.resolve);
      entered.resolve();
      await gone.promise;
      throw new HttpFailure('DB_QUERY_FAILED', { level: 'info', headers: { A: '\0' } });
    });
    const app = await stageApp([route]);
    const socket = openSocket(app.url);
    socket.write(head('GET /probe'));
    await entered.promise;
    socket.resetAndDestroy();
    await expect.poll(() => app.logs.map(({ msg }) => msg)).toContain('the response could not be sent');
    expect(faults(app)).toEqual([]);
    expect(app.logs.find(({ msg }) => msg === 'the response could not be sent')?.level).toBe('debug');
  });
});
