import type { Context } from 'koa';
import type { HttpDeps } from './http-deps.ts';

/** SPEC "Slow-request logging". */
const levelOf = (duration: number, status: number, { warn, error }: HttpDeps['slowRequest']) => {
  if (duration >= error) return 'error';
  if (duration >= warn) return 'warn';
  return status >= 400 ? 'info' : 'debug';
};

/**
 * Logs a request that is answered, once: stage 12 does for what succeeded, stage 13 for what ended before.
 * @param since when the request's time began, in monotonic milliseconds.
 */
export const logRequest = (ctx: Context, since: number, { logger, slowRequest, onRequest }: HttpDeps): void => {
  if (ctx.state.logged) return;
  ctx.state.logged = true;
  const duration = performance.now() - since;
  onRequest?.(ctx.state.route?.name ?? 'none', ctx.status, duration);
  logger[levelOf(duration, ctx.status, slowRequest)](
    {
      requestId: ctx.request.id,
      method: ctx.method,
      route: ctx.state.route?.name,
      status: ctx.status,
      duration: Math.round(duration),
    },
    'request answered',
  );
};
