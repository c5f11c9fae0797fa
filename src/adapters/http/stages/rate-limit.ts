import type { Middleware } from 'koa';
import type { Admit } from '../rate-limit/rate-limiter.ts';

/** Stage 6. SPEC "Rate limiting". */
export const rateLimit = (admit: Admit): Middleware =>
  async function rateLimit(ctx, next) {
    await admit(ctx);
    await next();
  };
