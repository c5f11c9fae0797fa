import type { Context, Middleware } from 'koa';
import { successEnvelopeOf } from '../envelope.ts';
import { ResponseSerializationFailure } from '../errors/exceptions.ts';
import type { HttpDeps } from '../http-deps.ts';
import { logRequest } from '../logging/request-log.ts';
import type { Route, Unwrapped } from '../routing/define-route.ts';

/** Stage 12. */
export const successEnvelope = ({ response: { status, unwrapped } }: Route, deps: HttpDeps): Middleware =>
  async function successEnvelope(ctx, next) {
    await next();
    ctx.status = status;
    if (unwrapped === undefined) answerWrapped(ctx, deps);
    else answerUnwrapped(ctx, unwrapped);
    logRequest(ctx, deps);
  };

const answerWrapped = (ctx: Context, { clock }: HttpDeps): void => {
  ctx.set('Cache-Control', 'no-store');
  ctx.type = 'json';
  ctx.body = toJson(successEnvelopeOf(ctx, ctx.state.payload, clock));
};

const answerUnwrapped = (ctx: Context, { type, cacheControl }: Unwrapped): void => {
  const { payload } = ctx.state;
  ctx.set('Cache-Control', cacheControl);
  ctx.body = typeof payload === 'string' ? payload : toJson(payload);
  // Koa has an opinion on the type of a body, and on its parameters.
  ctx.set('Content-Type', type);
};

/** Koa would do the same when it is too late for an answer. A bigint, a cycle, or a `toJSON` that throws has no JSON. */
const toJson = (value: unknown): string => {
  try {
    return JSON.stringify(value);
  } catch (cause) {
    throw new ResponseSerializationFailure([{ expected: 'JSON' }], { cause });
  }
};
