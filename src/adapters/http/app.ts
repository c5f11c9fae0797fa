import type { RequestListener } from 'node:http';
import Koa, { type Middleware } from 'koa';
import koaCompose from 'koa-compose';
import { clientError, lastResort } from './errors/last-resort.ts';
import { formResultStages, ownOrigin } from './forms/form-stages.ts';
import { formValidation } from './forms/form-validation.ts';
import type { HttpDeps } from './http-deps.ts';
import type { Route } from './routing/define-route.ts';
import { cookieParsing, crossOrigin, requestPreprocessing, requestScope, securityHeaders } from './stages/arrival.ts';
import { callHandler, dispatch, handlerTimeout, startTiming } from './stages/dispatch.ts';
import { errorEnvelope, responseSerialization, successEnvelope } from './stages/envelopes.ts';
import { authenticationGuard, rateLimits, recognisePageServer } from './stages/guards.ts';
import { inputValidation } from './stages/input-validation.ts';

/** The stages of a request, in the order of SPEC "Request processing". For a form, other stages take the place of 8, 11 and 12. */
export const pipeline = (
  routes: readonly Route[],
  deps: HttpDeps,
  compose: (stages: Middleware[]) => Middleware = koaCompose,
): Middleware => {
  const limitsOf = rateLimits(deps);
  const formStagesOf = formResultStages(deps);
  return compose([
    errorEnvelope(deps), //              13: surrounds all other stages
    securityHeaders, //                  1
    cookieParsing, //                    2
    requestPreprocessing(deps), //       3
    requestScope(deps), //               4
    crossOrigin(deps), //                5
    dispatch(routes, (route) => {
      const { perClient, perUser } = limitsOf(route.form?.submits ?? route.sharesLimitsOf ?? route);
      if (route.form !== undefined) {
        const { resultAfterSessionEnd, formResult } = formStagesOf(route.form);
        return compose([
          ownOrigin(deps, route.form),
          ...perClient,
          resultAfterSessionEnd,
          authenticationGuard(route, deps),
          formValidation(route),
          ...perUser,
          startTiming,
          formResult,
          handlerTimeout(deps),
          callHandler(route),
        ]);
      }
      return compose([
        ...(route.pageServers === undefined ? [] : [recognisePageServer(route.pageServers)]),
        ...perClient, //                  6
        authenticationGuard(route, deps), // 7
        inputValidation(route), //       8: reads the body only of a request that 6 and 7 have admitted
        ...perUser, //                    counts only requests with valid input (ADR 0017)
        startTiming, //                  9
        successEnvelope(route, deps), // 12
        responseSerialization(route), // 11
        handlerTimeout(deps), //         10
        callHandler(route),
      ]);
    }),
  ]);
};

export type HttpHandlers = {
  readonly request: RequestListener;
  readonly errorResponse: ReturnType<typeof clientError>;
};

/** The Koa application: the pipeline over the routes. `trustProxy` is the number of proxies whose `X-Forwarded-For` it trusts. */
export const createApp = (routes: readonly Route[], deps: HttpDeps & { readonly trustProxy: number }): HttpHandlers => {
  const app = new Koa({ proxy: deps.trustProxy > 0, maxIpsCount: deps.trustProxy });
  app.context.onerror = lastResort(deps);
  app.use(pipeline(routes, deps));
  return { request: app.callback(), errorResponse: clientError(deps) };
};
