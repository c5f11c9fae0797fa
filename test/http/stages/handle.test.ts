import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import type { HandlerInput } from '../../../src/adapters/http/routing/define-route.ts';
import { probe, stageApp } from '../../support/http/stage-app.ts';

const person = { id: 'u1', username: 'Ada', email: 'ada@example.org', createdAt: 0, updatedAt: 0 };
const claims = { sub: 'u1', iat: 0, exp: 1, jti: 't1', tokenType: 'access', user: person } as const;

describe('a handler', () => {
  it('receives the results of the stages before it', async () => {
    const inputs: HandlerInput[] = [];
    const all = probe(
      (input) => {
        inputs.push(input);
        return null;
      },
      {
        auth: 'required',
        name: 'all',
        method: 'POST',
        path: '/all/:id',
        request: {
          body: v.object({ a: v.number() }),
          query: v.strictObject({ b: v.string() }),
          params: v.object({ id: v.string() }),
        },
      },
    );
    const { http } = await stageApp([all], {
      authenticate: async () => ({ ok: true, token: { claims, sessionId: 's1' } }),
    });
    await http.post('/all/7?b=2').set('Authorization', 'Bearer a').send({ a: 1 }).expect(200);
    const caller = { userId: 'u1', sessionId: 's1' };
    const signal = expect.any(AbortSignal);
    expect(inputs).toEqual([{ body: { a: 1 }, query: { b: '2' }, params: { id: '7' }, claims, caller, signal }]);
  });

  it('receives nothing that its route does not declare', async () => {
    const inputs: HandlerInput[] = [];
    const { http } = await stageApp([probe((input) => inputs.push(input), { method: 'POST' })]);
    await http.post('/probe').set('Authorization', 'Bearer a').send({ a: 1 }).expect(200);
    // The others are undefined.
    expect(inputs).toEqual([{ query: {}, signal: expect.any(AbortSignal) }]);
  });
});
