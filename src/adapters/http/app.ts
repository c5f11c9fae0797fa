import type { RequestListener } from 'node:http';
import Koa from 'koa';
import { clientError, lastResort } from './errors/last-resort.ts';
import type { HttpDeps } from './http-deps.ts';
import { pipeline } from './pipeline.ts';
import type { Route } from './routing/define-route.ts';

export type HttpHandlers = {
  readonly request: RequestListener;
  /** The response to a request that does not reach the application. */
  readonly errorResponse: ReturnType<typeof clientError>;
};

/** The Koa application: the pipeline over the routes. `trustProxy` is the number of proxies in front of it. */
export const createApp = (routes: readonly Route[], deps: HttpDeps & { readonly trustProxy: number }): HttpHandlers => {
  const app = new Koa({ proxy: deps.trustProxy > 0, maxIpsCount: deps.trustProxy });
  app.context.onerror = lastResort(deps);
  app.use(pipeline(routes, deps));
  return { request: app.callback(), errorResponse: clientError(app, deps) };
};
