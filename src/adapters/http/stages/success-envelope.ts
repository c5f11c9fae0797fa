import type { Middleware } from 'koa';
import type { Route } from '../define-route.ts';
import { successEnvelopeOf } from '../envelope.ts';
import type { HttpDeps } from '../http-deps.ts';
import { logRequest } from '../request-log.ts';

/** Stage 12. */
export const successEnvelope = ({ response }: Route, deps: HttpDeps): Middleware =>
  async function successEnvelope(ctx, next) {
    await next();
    ctx.status = response.status;
    ctx.set('Cache-Control', 'no-store');
    ctx.body = successEnvelopeOf(ctx, ctx.state.payload, deps.clock);
    logRequest(ctx, ctx.state.startedAt ?? performance.now(), deps);
  };
