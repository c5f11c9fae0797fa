import type { Context, Middleware } from 'koa';
import type { AppError } from '../../../domain/errors/app-error.ts';
import { contextOf, errorEnvelopeOf } from '../envelope.ts';
import { asDeclared } from '../errors/declared-error.ts';
import { toAppError } from '../errors/exception-filters.ts';
import { errorHeaders } from '../errors/http-failure.ts';
import type { HttpDeps } from '../http-deps.ts';
import { logError, logRequest } from '../logging/request-log.ts';
import { REQUEST_ID_HEADER } from './request-preprocessing.ts';

/** Stage 13: turns an exception of any stage into the error envelope. */
export const errorEnvelope = (deps: HttpDeps): Middleware =>
  async function errorEnvelope(ctx, next) {
    ctx.state.arrivedAt = performance.now();
    try {
      await next();
    } catch (exception) {
      ensureId(ctx, deps);
      const error = asDeclared(ctx, toAppError(exception), deps);
      logError(ctx, error, deps);
      respond(ctx, error, deps);
    }
    logRequest(ctx, deps);
  };

/** Stages 1 and 2 run before stage 3 has set the request's id. */
const ensureId = (ctx: Context, { ids, version }: HttpDeps): void => {
  ctx.request.id ??= ids.next();
  ctx.request.version = version;
  ctx.set(REQUEST_ID_HEADER, ctx.request.id);
};

const respond = (ctx: Context, error: AppError, deps: HttpDeps): void => {
  ctx.status = error.status;
  ctx.set({ 'Cache-Control': 'no-store', ...errorHeaders(error) });
  ctx.body = errorEnvelopeOf(error, contextOf(ctx), deps);
};
