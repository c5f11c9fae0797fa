import type { Middleware } from 'koa';

/** Stage 9. */
export const timing = (): Middleware =>
  function timing(ctx, next) {
    ctx.state.startedAt = performance.now();
    return next();
  };
