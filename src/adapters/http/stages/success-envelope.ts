import { createHash } from 'node:crypto';
import type { Context, Middleware } from 'koa';
import { successEnvelopeOf } from '../envelope.ts';
import { ResponseSerializationFailure } from '../errors/exceptions.ts';
import type { HttpDeps } from '../http-deps.ts';
import { logRequest } from '../logging/request-log.ts';
import type { Route, Unwrapped } from '../routing/define-route.ts';

/** Stage 12: writes the response, in the success envelope or as it is. */
export const successEnvelope = ({ response: { status, unwrapped } }: Route, deps: HttpDeps): Middleware =>
  async function successEnvelope(ctx, next) {
    await next();
    ctx.status = status;
    if (unwrapped === undefined) respondWrapped(ctx, deps);
    else respondUnwrapped(ctx, unwrapped);
    logRequest(ctx, deps);
  };

const respondWrapped = (ctx: Context, { clock }: HttpDeps): void => {
  ctx.set('Cache-Control', 'no-store');
  ctx.type = 'json';
  ctx.body = toJson(successEnvelopeOf(ctx, ctx.state.payload, clock));
};

const respondUnwrapped = (ctx: Context, { type, cacheControl, embeddable }: Unwrapped): void => {
  const { payload } = ctx.state;
  const text = typeof payload === 'string' ? payload : toJson(payload);
  ctx.set('Cache-Control', cacheControl);
  if (embeddable) ctx.set('Cross-Origin-Resource-Policy', 'cross-origin');
  ctx.etag = createHash('sha256').update(text).digest('base64url');
  ctx.body = text;
  // Set last and without `ctx.type`, since Koa would add a charset.
  ctx.set('Content-Type', type);
  // Also removes the body (RFC 9110 §15.4.5).
  if (ctx.fresh) ctx.status = 304;
};

/** A bigint, a cycle, or a `toJSON` that throws has no JSON. Koa would find out after this stage has succeeded. */
const toJson = (value: unknown): string => {
  try {
    return JSON.stringify(value);
  } catch (cause) {
    throw new ResponseSerializationFailure([{ expected: 'JSON' }], { cause });
  }
};
