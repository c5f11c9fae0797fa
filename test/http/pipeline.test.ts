// Proves SPEC 1.7, 12.1, 12.2, 12.15, 12.23; flood-4
import Koa, { type Context, type Middleware } from 'koa';
import koaCompose from 'koa-compose';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { pipeline } from '../../src/adapters/http/app.ts';
import { exchangeRaw, head } from '../support/http/raw-http.ts';
import { ORDER, probe, stageApp, stageDeps } from '../support/http/stage-app.ts';
import { declaredHttp } from '../support/openapi/documented-http.ts';

type Passage = { readonly stage: string; readonly way: 'in' | 'out'; readonly ctx: Context };

/** The pipeline of a route; calls `see` on the way in and out of every stage. */
const traced = (see: (passage: Passage) => void) => {
  const tracing =
    (stage: Middleware): Middleware =>
    async (ctx, next) => {
      see({ stage: stage.name, way: 'in', ctx });
      try {
        await stage(ctx, next);
      } finally {
        see({ stage: stage.name, way: 'out', ctx });
      }
    };
  const compose = (stages: Middleware[]) => koaCompose(stages.map(tracing));
  const routes = [probe(() => null)];
  const deps = stageDeps({ rateLimits: { global: { requests: 100, window: 60_000 }, strict: null, public: null } });
  const app = new Koa().use(pipeline(routes, deps, compose));
  return declaredHttp(app.callback(), routes);
};

describe('the order of the stages', () => {
  it('is that of the specification on the way in, and its reverse on the way out', async () => {
    const passages: Passage[] = [];
    await traced((passage) => passages.push(passage))
      .get('/probe')
      .expect(200);
    const names = (way: Passage['way']) => passages.filter((passage) => passage.way === way).map(({ stage }) => stage);
    expect(names('in')).toEqual(ORDER);
    expect(names('out')).toEqual(ORDER.toReversed());
    expect(passages.findIndex(({ way }) => way === 'out')).toBe(ORDER.length);
  });

  it('records the start time at stage 9, neither earlier nor later', async () => {
    const timed = new Map<string, boolean>();
    await traced(({ stage, way, ctx }) => way === 'in' && timed.set(stage, ctx.state.startedAt !== undefined))
      .get('/probe')
      .expect(200);
    const from = ORDER.indexOf('startTiming');
    expect([...timed]).toEqual(ORDER.map((stage, index) => [stage, index > from]));
  });
});

const limited = (requests: number) => ({
  rateLimits: { global: { requests, window: 60_000 }, strict: null, public: null },
});
const guarded = probe(() => null, {
  auth: 'required',
  name: 'guarded',
  method: 'POST',
  path: '/guarded',
  request: { body: v.object({ name: v.string() }) },
});

describe('the stages refuse in order', () => {
  const person = { id: 'id', username: 'ada', email: 'ada@example.org', createdAt: 0, updatedAt: 0 };
  const claims = { sub: 'id', iat: 0, exp: 1, jti: 'jti', tokenType: 'access', user: person } as const;
  const everybody = { authenticate: async () => ({ ok: true, token: { claims, sessionId: 's1' } }) as const };

  it('the rate limit before the guard, and the guard before the validation', async () => {
    const { http } = await stageApp([guarded], { ...limited(3), ...everybody });
    const post = () => http.post('/guarded').send({ name: 1 });
    await post().expect(401);
    await post().set('Authorization', 'Bearer a').expect(400);
    await post().set('Authorization', 'Bearer a').send({ name: 'ada' }).expect(200);
    await post().expect(429);
    await post().set('Authorization', 'Bearer a').expect(429);
  });

  it('the origin check before the rate limit, which does not count such requests', async () => {
    const { http } = await stageApp([probe(() => null)], limited(1));
    const fromElsewhere = () => http.get('/probe').set('Origin', 'https://elsewhere.example');
    await fromElsewhere().expect(403);
    await http.get('/probe').expect(200);
    await http.get('/probe').expect(429);
    await fromElsewhere().expect(403);
  });

  it('the guard and the rate limit, without waiting for the body', async () => {
    const { url } = await stageApp([guarded], limited(1));
    const announced = { 'Content-Type': 'application/json', 'Content-Length': '15', Connection: 'close' };
    const ask = () => exchangeRaw(url, head('POST /guarded', announced));
    expect(await ask()).toMatchObject({ status: 401, body: expect.stringContaining('"AUTH_TOKEN_MISSING"') });
    expect((await ask()).status).toBe(429);
  });
});
