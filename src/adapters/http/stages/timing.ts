import type { Middleware } from 'koa';

/** Stage 9. */
export const timing = (): Middleware =>
  async function timing(ctx, next) {
    ctx.state.startedAt = performance.now();
    await next();
  };
