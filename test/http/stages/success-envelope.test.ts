import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { fixedClock } from '../../../src/adapters/clock/fixed.ts';
import { route } from '../../../src/adapters/http/define-route.ts';
import { probe, stageApp } from '../../support/stage-app.ts';

const clock = fixedClock(Date.UTC(2026, 0, 1, 12, 30, 15, 7));
const person = { id: 'u1', username: 'Ada', email: 'ada@example.org', createdAt: 0, updatedAt: 0 };
const token = { sub: 'u1', iat: 0, exp: 1, jti: 't1', tokenType: 'access', user: person } as const;

describe('the success envelope', () => {
  it('has the members of the specification, and no others', async () => {
    const { http } = await stageApp([probe(() => ({ a: 1 }))], { clock });
    const answer = await http.get('/probe').set('svc-request-id', 'mine').expect(200);
    expect(answer.body).toEqual({
      success: true,
      data: { a: 1 },
      timestamp: '2026-01-01T12:30:15.007Z',
      context: { requestId: 'mine', version: '1.2.3' },
    });
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
  });

  it('names the user of an authenticated request by id and username alone', async () => {
    const { http } = await stageApp([probe(() => null, { auth: 'required' })], {
      authenticate: async () => ({ ok: true, token }),
    });
    const { body } = await http.get('/probe').set('Authorization', 'Bearer a').expect(200);
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

  it('goes out with the status that the route declares', async () => {
    const created = route(
      { name: 'created', method: 'POST', path: '/x', auth: 'public', response: { status: 201, data: v.null() } },
      () => null,
    );
    const { http } = await stageApp([created]);
    expect((await http.post('/x').expect(201)).body).toMatchObject({ success: true, data: null });
  });

  it('is kept by no cache', async () => {
    const { http } = await stageApp([probe(() => null)]);
    await http.get('/probe').expect('Cache-Control', 'no-store');
  });

  it('has the length that it says it has', async () => {
    const { http } = await stageApp([probe(() => 'äöü 🔑')]);
    const { text, headers } = await http.get('/probe');
    expect(headers['content-length']).toBe(String(Buffer.byteLength(text)));
  });
});
