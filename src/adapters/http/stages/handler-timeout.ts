import createHttpError from 'http-errors';
import type { Middleware } from 'koa';
import type { HttpDeps } from '../http-deps.ts';

/** Stage 10: the client gets its answer in time, and what goes on without it is told to stop. */
export const handlerTimeout = ({ requestTimeout }: HttpDeps): Middleware =>
  async function handlerTimeout(ctx, next) {
    const controller = new AbortController();
    ctx.state.signal = controller.signal;
    const timedOut = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      const error = createHttpError(503, { headers: { 'Retry-After': '1' } });
      controller.abort(error);
      timedOut.reject(error);
    }, requestTimeout);
    try {
      await Promise.race([next(), timedOut.promise]);
    } finally {
      clearTimeout(timer);
    }
  };
