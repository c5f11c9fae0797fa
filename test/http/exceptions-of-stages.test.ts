// Proves SPEC 12.30
import Koa, { type Middleware } from 'koa';
import koaCompose from 'koa-compose';
import { describe, expect, it } from 'vitest';
import { pipeline } from '../../src/adapters/http/app.ts';
import { ORDER, probe, stageDeps, ULID } from '../support/http/stage-app.ts';
import { declaredHttp } from '../support/openapi/documented-http.ts';

/** The stages whose exceptions stage 13 converts. */
const [, ...STAGES] = ORDER;

const broken = async () => {
  throw new TypeError('a bug');
};

/** When a stage throws: before the stages after it, or after they are done. */
const FAULTS: Readonly<Record<string, (stage: Middleware) => Middleware>> = {
  'on the way in': () => broken,
  'on the way out': (stage) => (ctx, next) => Promise.resolve(stage(ctx, next)).then(broken),
};

/** The pipeline with one stage that throws. */
const brokenAt = (name: string, fault: (stage: Middleware) => Middleware) => {
  const deps = stageDeps({ rateLimits: { global: { requests: 100, window: 60_000 }, strict: null, public: null } });
  const compose = (stages: Middleware[]) =>
    koaCompose(stages.map((stage) => (stage.name === name ? fault(stage) : stage)));
  const routes = [probe(() => null)];
  const app = new Koa().use(pipeline(routes, deps, compose));
  return { http: declaredHttp(app.callback(), routes), logs: deps.logs };
};

describe.each(STAGES)('an exception of the stage %s', (stage) => {
  it.each(Object.entries(FAULTS))('%s becomes the error envelope', async (_way, fault) => {
    const { http, logs } = brokenAt(stage, fault);
    const { body, headers } = await http.get('/probe').expect(500);
    expect(body).toEqual({
      success: false,
      code: 'SYS_UNEXPECTED_ERROR',
      message: expect.stringMatching(/\S/),
      type: 'https://auth.example.org/errors/SYS_UNEXPECTED_ERROR',
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      context: { requestId: expect.stringMatching(ULID), version: '1.2.3' },
      details: null,
    });
    expect(headers['svc-request-id']).toBe(body.context.requestId);
    expect(logs.filter(({ level }) => level === 'fatal')).toEqual([
      expect.objectContaining({ code: 'SYS_UNEXPECTED_ERROR', requestId: body.context.requestId }),
    ]);
  });
});
