import type { RequestListener } from 'node:http';
import type { Middleware } from 'koa';
import Koa from 'koa';
import koaCompose from 'koa-compose';
import { clientError, lastResort } from './errors/last-resort.ts';
import { formResult, ownOrigin } from './forms/form-stages.ts';
import { formValidation } from './forms/form-validation.ts';
import type { HttpDeps } from './http-deps.ts';
import type { Route } from './routing/define-route.ts';
import { cookieParsing, crossOrigin, requestPreprocessing, requestScope, securityHeaders } from './stages/arrival.ts';
import { dispatch, handle, handlerTimeout, timing } from './stages/dispatch.ts';
import { errorEnvelope, responseSerialization, successEnvelope } from './stages/envelopes.ts';
import { authenticationGuard, rateLimits, recognisePageServer } from './stages/guards.ts';
import { inputValidation } from './stages/input-validation.ts';

/** The thirteen stages of every request, in the order of SPEC "Request processing". */
export const pipeline = (
  routes: readonly Route[],
  deps: HttpDeps,
  compose: (stages: Middleware[]) => Middleware = koaCompose,
): Middleware => {
  const limits = rateLimits(deps);
  const resultOf = formResult(deps);
  return compose([
    errorEnvelope(deps), //              13: surrounds all
    securityHeaders, //                  1
    cookieParsing, //                    2
    requestPreprocessing(deps), //       3
    requestScope(deps), //               4
    crossOrigin(deps), //                5
    dispatch(routes, (r) => {
      const { ofClient, ofUser } = limits(r.form?.submits ?? r.countsAs ?? r);
      if (r.form !== undefined) {
        const { resultAfterEnd, formResult } = resultOf(r.form);
        return compose([
          ownOrigin(deps, r.form),
          ...ofClient,
          resultAfterEnd,
          authenticationGuard(r, deps),
          formValidation(r),
          ...ofUser,
          timing,
          formResult,
          handlerTimeout(deps),
          handle(r),
        ]);
      }
      return compose([
        ...(r.pageServers === undefined ? [] : [recognisePageServer(r.pageServers)]),
        ...ofClient, //                  6
        authenticationGuard(r, deps), // 7
        inputValidation(r), //           8: reads the body, after 6 and 7 have admitted the request
        ...ofUser, //                       only requests that are otherwise answered (ADR 0017)
        timing, //                       9
        successEnvelope(r, deps), //     12
        responseSerialization(r), //     11
        handlerTimeout(deps), //         10
        handle(r),
      ]);
    }),
  ]);
};

export type HttpHandlers = {
  readonly request: RequestListener;
  readonly errorResponse: ReturnType<typeof clientError>;
};

/** The Koa application: the pipeline over the routes. `trustProxy` is the number of proxies in front of it. */
export const createApp = (routes: readonly Route[], deps: HttpDeps & { readonly trustProxy: number }): HttpHandlers => {
  const app = new Koa({ proxy: deps.trustProxy > 0, maxIpsCount: deps.trustProxy });
  app.context.onerror = lastResort(deps);
  app.use(pipeline(routes, deps));
  return { request: app.callback(), errorResponse: clientError(app, deps) };
};
