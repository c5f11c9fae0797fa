import type { Middleware } from 'koa';
import { withTimeout } from '../../resilience/response-timeout.ts';
import { httpFailure } from '../errors/exceptions.ts';
import type { HttpDeps } from '../http-deps.ts';
import type { Route } from '../routing/define-route.ts';

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

/** Stage 9. */
export const timing = (): Middleware =>
  function timing(ctx, next) {
    ctx.state.startedAt = performance.now();
    return next();
  };

const NO_INPUT = { body: undefined, query: undefined, params: undefined };
const NEVER = new AbortController().signal;

/** The end of the pipeline: calls the route's handler. */
export const handle = ({ handler }: Route): Middleware =>
  async function handle(ctx) {
    const { jwtClaim, sessionId } = ctx.request;
    const { input = NO_INPUT, signal = NEVER } = ctx.state;
    ctx.state.payload = await handler({ ...input, claims: jwtClaim, sessionId, signal }, ctx);
  };
