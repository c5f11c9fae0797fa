// Proves SPEC 11.13, 25.5, 25.6
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import type { Json } from '../../src/adapters/http/openapi/components.ts';
import { isDescribed, route } from '../../src/adapters/http/routing/define-route.ts';
import { AppError } from '../../src/domain/errors/app-error.ts';
import { servicesOverOneDatabase } from '../support/http/auth-http.ts';
import { exchangeRaw } from '../support/http/raw-http.ts';
import { probe, stageApp } from '../support/http/stage-app.ts';
import { answerCheckOf } from '../support/openapi/answer-check.ts';

const { start } = servicesOverOneDatabase();
const PATH = '/openapi.json';

const service = await start();

describe('GET /openapi.json', () => {
  it('describes every route of the service, its own among them, without an envelope', async () => {
    const { body, headers } = await service.http.get(PATH).expect(200);
    expect(headers['content-type']).toBe('application/json');
    const operations = Object.entries<Json>(body.paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const declared = service.routes
      .filter(isDescribed)
      .map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`);
    expect(operations.sort()).toEqual(declared.sort());
    expect(operations).toContain(`GET ${PATH}`);
  });

  it('names the server by BASE_URL, and the version', async () => {
    const { body } = await (await start({ BASE_URL: 'https://login.example.net/v' })).http.get(PATH).expect(200);
    expect(body).toMatchObject({ openapi: '3.1.1', servers: [{ url: 'https://login.example.net/v' }] });
    expect(body.info.version).toBe((await service.http.get('/health/live')).body.context.version);
  });

  it('has neither streams of events nor versions of the API', async () => {
    const { text, body } = await service.http.get(PATH).expect(200);
    expect(text).not.toMatch(/event-stream/);
    expect(Object.keys(body.paths).filter((path) => /\/v\d/.test(path))).toEqual([]);
    expect(text).not.toMatch(/"in":"header","name":"[^"]*version/i);
    const { status, body: live } = await service.http.get('/health/live').set('Accept-Version', '99');
    expect([status, live.success]).toEqual([200, true]);
  });

  it('may be stored, and is sent again only if it has changed', async () => {
    const { headers } = await service.http.get(PATH).expect(200);
    expect(headers['cache-control']).toBe('public, max-age=300');
    const again = await service.http.get(PATH).set('If-None-Match', String(headers.etag)).expect(304);
    expect(again.text).toBe('');
    expect(again.headers.etag).toBe(headers.etag);
    await service.http.get(PATH).set('If-None-Match', '"another"').expect(200);
    const other = await (await start({ BASE_URL: 'https://login.example.net' })).http.get(PATH).expect(200);
    expect(other.headers.etag).not.toBe(headers.etag);
  });
});

describe('an answer', () => {
  const ok = { 'svc-request-id': 'id', 'cache-control': 'no-store', 'content-type': 'application/json; charset=utf-8' };
  const declared = route({
    name: 'thing',
    tag: 'health',
    summary: 'A test',
    at: 'GET /things/:id',
    auth: 'public',
    request: { params: v.object({ id: v.string() }) },
    response: { data: v.object({ name: v.string() }) },
    errors: ['DB_RECORD_NOT_FOUND'],
    handler: ({ params }) => ({ name: params.id }),
  });
  const check = answerCheckOf([declared]);
  const common = { timestamp: '2026-01-01T00:00:00.000Z', context: { requestId: 'id', version: '1' } };
  const success = (data: unknown) => JSON.stringify({ success: true, data, ...common });
  const failure = (code: string, details: unknown = null) => {
    const about = { code, message: 'm', type: `https://a.example/errors/${code}`, details };
    return JSON.stringify({ success: false, ...about, ...common });
  };
  const asked = (status: number, body: string, headers: Json = ok, target = '/things/1') =>
    check('GET', target, { status, headers, body });

  it('as documented has no problem', () => {
    expect(asked(200, success({ name: 'a' }))).toEqual([]);
    expect(asked(404, failure('DB_RECORD_NOT_FOUND'))).toEqual([]);
    expect(asked(200, success({ name: 'a' }), ok, '/things/1?a=1')).toEqual([]);
    expect(asked(404, failure('SYS_HTTP_UNEXPECTED_ERROR'), ok, '/nowhere')).toEqual([]);
    expect(check('OPTIONS', '/things/1', { status: 204, headers: {}, body: '' })).toEqual([]);
    expect(check('HEAD', '/things/1', { status: 200, headers: ok, body: '' })).toEqual([]);
  });

  it.each([
    ['an undeclared status', asked(201, success({ name: 'a' }))],
    ['an undeclared code', asked(404, failure('EXCEPTION_CATALOG_CODE_NOT_FOUND'))],
    ['a code of another status', asked(404, failure('SYS_UNEXPECTED_ERROR'))],
    ['an additional member of the payload', asked(200, success({ name: 'a', hash: 'b' }))],
    ['a missing member', asked(200, success({}))],
    ['details of another code', asked(404, failure('DB_RECORD_NOT_FOUND', []))],
    ['no details', asked(400, failure('CLIENT_PARAMS_VALIDATION_FAILED'))],
    ['a missing header', asked(200, success({ name: 'a' }), { ...ok, 'svc-request-id': undefined })],
    ['an undeclared cookie', asked(200, success({ name: 'a' }), { ...ok, 'set-cookie': ['a=b'] })],
    ['another media type', asked(200, success({ name: 'a' }), { ...ok, 'content-type': 'text/html' })],
    ['a body of HEAD', check('HEAD', '/things/1', { status: 200, headers: ok, body: '{}' })],
  ])('with %s has one', (_what, problems) => {
    expect(problems).not.toEqual([]);
  });

  it('fails the test whose application gave it', async () => {
    const app = await stageApp([declared, probe(() => Promise.reject(new AppError('AUTH_FAILED')), { errors: [] })], {
      nodeEnv: 'production',
    });
    await app.http.get('/things/1').expect(200);
    await exchangeRaw(app.url, 'garbage\r\n\r\n');
    expect(app.undocumented()).toEqual([]);
    await app.http.get('/probe').expect(401);
    expect(app.undocumented()).toEqual([expect.stringContaining('GET /probe 401: ')]);
  });
});
