import type { Middleware } from 'koa';
import { withTimeout } from '../../resilience/response-timeout.ts';
import { httpFailure } from '../errors/http-failure.ts';
import type { HttpDeps } from '../http-deps.ts';

/** Stage 10: after the time-out the client gets 503, and the signal tells the handler to stop. */
export const handlerTimeout = ({ requestTimeout }: Pick<HttpDeps, 'requestTimeout'>): Middleware =>
  async function handlerTimeout(ctx, next) {
    const controller = new AbortController();
    ctx.state.signal = controller.signal;
    await withTimeout(requestTimeout, next(), () => {
      const error = httpFailure(503, { reason: 'the handler took too long', retryAfter: 1 });
      controller.abort(error);
      return error;
    });
  };
