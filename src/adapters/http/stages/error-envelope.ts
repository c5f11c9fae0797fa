import type { Context, Middleware } from 'koa';
import type { AppError } from '../../../domain/errors/app-error.ts';
import { contextOf, errorEnvelopeOf } from '../envelope.ts';
import { toAppError } from '../exception-filters.ts';
import type { HttpDeps } from '../http-deps.ts';
import { logRequest } from '../request-log.ts';
import { withoutWords } from '../without-words.ts';

/** Stage 13: whatever any stage throws becomes the error envelope. */
export const errorEnvelope = (deps: HttpDeps): Middleware =>
  async function errorEnvelope(ctx, next) {
    const arrivedAt = performance.now();
    try {
      await next();
    } catch (exception) {
      const error = toAppError(exception);
      logError(ctx, error, deps);
      answer(ctx, error, deps);
    }
    logRequest(ctx, ctx.state.startedAt ?? arrivedAt, deps);
  };

const answer = (ctx: Context, error: AppError, deps: HttpDeps): void => {
  ctx.status = error.status;
  ctx.set({ 'Cache-Control': 'no-store', ...error.headers });
  ctx.body = errorEnvelopeOf(error, contextOf(ctx), deps);
};

const logError = (ctx: Context, error: AppError, { logger }: HttpDeps): void => {
  const { code, reason, cause } = error;
  const { route } = ctx.state;
  // The scope of stage 4 has ended when an exception gets here.
  const line = { requestId: ctx.request.id, route: route?.name, code };
  logger[error.level]({ ...line, reason, err: withoutWords(cause) }, error.message);
  if (route !== undefined && !route.errors.has(code)) logger.error(line, 'undeclared error code');
};
