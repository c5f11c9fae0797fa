import type { Context, Middleware } from 'koa';
import type { Route, Unwrapped } from '../define-route.ts';
import { successEnvelopeOf } from '../envelope.ts';
import type { HttpDeps } from '../http-deps.ts';
import { logRequest } from '../request-log.ts';

/** Stage 12. */
export const successEnvelope = ({ response: { status, unwrapped } }: Route, deps: HttpDeps): Middleware =>
  async function successEnvelope(ctx, next) {
    await next();
    ctx.status = status;
    if (unwrapped === undefined) answerWrapped(ctx, deps);
    else answerUnwrapped(ctx, unwrapped);
    logRequest(ctx, ctx.state.startedAt ?? performance.now(), deps);
  };

const answerWrapped = (ctx: Context, { clock }: HttpDeps): void => {
  ctx.set('Cache-Control', 'no-store');
  ctx.body = successEnvelopeOf(ctx, ctx.state.payload, clock);
};

const answerUnwrapped = (ctx: Context, { type, cacheControl }: Unwrapped): void => {
  ctx.set('Cache-Control', cacheControl);
  ctx.body = ctx.state.payload;
  // Koa has an opinion on the type of a body, and on its parameters.
  ctx.set('Content-Type', type);
};
