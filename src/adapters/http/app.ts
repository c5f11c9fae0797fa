import './koa-augmentation.ts';
import type { RequestListener } from 'node:http';
import Koa from 'koa';
import { clientError } from './errors/client-error.ts';
import { lastResort } from './errors/last-resort.ts';
import type { HttpDeps } from './http-deps.ts';
import { pipeline } from './pipeline.ts';
import { rateLimiter } from './rate-limit/rate-limiter.ts';
import { sharedCount } from './rate-limit/shared-count.ts';
import type { Route } from './routing/define-route.ts';

/** What a server needs to answer. */
export type HttpHandlers = {
  readonly request: RequestListener;
  /** What a client is told whose request the application never gets. */
  readonly refusal: ReturnType<typeof clientError>;
  /** Whether limits are counted in this process although Redis should count them. */
  readonly limitsDegraded: () => boolean;
};

/** The Koa application: the pipeline over the routes. `trustProxy` is how many proxies stand before it. */
export const createApp = (routes: readonly Route[], deps: HttpDeps & { readonly trustProxy: number }): HttpHandlers => {
  const app = new Koa({ proxy: deps.trustProxy > 0, maxIpsCount: deps.trustProxy });
  app.context.onerror = lastResort(deps);
  const shared = sharedCount(deps.logger);
  app.use(pipeline(routes, rateLimiter(deps, shared), deps));
  return { request: app.callback(), refusal: clientError(deps), limitsDegraded: shared.degraded };
};
