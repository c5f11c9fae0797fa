import type { Middleware } from 'koa';
import helmet from 'koa-helmet';

/** Stage 1. An API's answers are never a page: nothing may load from them or frame them. */
export const securityHeaders = (): Middleware => {
  const setHeaders = helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: { defaultSrc: ["'none'"], baseUri: ["'none'"], formAction: ["'none'"], frameAncestors: ["'none'"] },
    },
    frameguard: { action: 'deny' },
  });
  return async function securityHeaders(ctx, next) {
    await setHeaders(ctx, next);
  };
};
