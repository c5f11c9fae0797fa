// Proves SPEC 1.9, 5.1, 5.2, 5.3, 5.4, 5.5, 6.9, 12.4, 12.12, 12.28; ASVS 14.2.2, 14.3.2; website-6
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { AppError } from '../../../src/domain/errors/app-error.ts';
import { fixedClock } from '../../support/fixed-clock.ts';
import { probe, stageApp } from '../../support/http/stage-app.ts';

const clock = fixedClock(Date.UTC(2026, 0, 1, 12, 30, 15, 7));
const person = { id: 'u1', username: 'Ada', email: 'ada@example.org', createdAt: 0, updatedAt: 0 };
const claims = { sub: 'u1', iat: 0, exp: 1, jti: 't1', tokenType: 'access', user: person } as const;

describe('the success envelope', () => {
  it('has exactly the specified members', async () => {
    const { http } = await stageApp([probe(() => ({ a: 'äöü 🔑' }))], { clock });
    const response = await http.get('/probe').set('svc-request-id', 'mine').expect(200);
    expect(response.body).toEqual({
      success: true,
      data: { a: 'äöü 🔑' },
      timestamp: '2026-01-01T12:30:15.007Z',
      context: { requestId: 'mine', version: '1.2.3' },
    });
    expect(response.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'content-length': String(Buffer.byteLength(response.text)),
      'cache-control': 'no-store',
    });
  });

  it.each([
    [200, () => null],
    [404, () => Promise.reject(new AppError('DB_RECORD_NOT_FOUND'))],
  ])('contains only id and username of the user of an authenticated request: %i', async (status, handler) => {
    const { http } = await stageApp([probe(handler, { auth: 'required' })], {
      authenticate: async () => ({ ok: true, token: { claims, sessionId: 's1' } }),
    });
    const { body } = await http.get('/probe').set('Authorization', 'Bearer a').expect(status);
    expect(body.context).toEqual({
      requestId: expect.any(String),
      version: '1.2.3',
      user: { id: 'u1', username: 'Ada' },
    });
  });

  it.each([null, false, 0, '', [], {}, 'text'])('wraps %j', async (data) => {
    const { http } = await stageApp([probe(() => data)]);
    const { body } = await http.get('/probe').expect(200);
    expect(body).toHaveProperty('data', data);
  });
});

/** A route with an unwrapped document. */
const document = (payload: unknown, type = 'application/json') =>
  probe(() => payload, {
    name: 'document',
    path: '/document',
    response: { status: 203, data: v.unknown(), unwrapped: { type, cacheControl: 'public, max-age=60' } },
  });

describe('an unwrapped document', () => {
  it.each([
    ['application/example+json', { a: 1 }, '{"a":1}', '7'],
    ['text/html; charset=utf-8', '<p>ä</p>', '<p>ä</p>', '9'],
  ])('is the payload alone, with the declared status, cache time and type: %s', async (type, payload, sent, length) => {
    const { http } = await stageApp([document(payload, type)]);
    const { text, headers } = await http.get('/document').expect(203);
    expect(text).toBe(sent);
    const expected = { 'content-type': type, 'content-length': length, 'cache-control': 'public, max-age=60' };
    expect(headers).toMatchObject(expected);
  });

  it('has the security headers of every response, and no request id, which caches would repeat to others', async () => {
    const { http } = await stageApp([document({})]);
    const ask = () => http.get('/document').set('svc-request-id', 'mine');
    const { headers } = await ask().expect(203);
    expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', vary: 'Origin' });
    expect(headers).not.toHaveProperty('svc-request-id');
    const again = await ask().set('If-None-Match', String(headers.etag)).expect(304);
    expect(again.headers).not.toHaveProperty('svc-request-id');
  });

  it('that does not match its schema is an error in the envelope, which caches may not store', async () => {
    const declared = document({});
    const broken = { ...declared, response: { ...declared.response, data: v.string() } };
    const { http } = await stageApp([broken]);
    const { body, headers } = await http.get('/document').expect(500);
    expect(body).toMatchObject({ success: false, code: 'SYS_SERIALIZATION_ERROR' });
    expect(headers).toMatchObject({ 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' });
  });
});
