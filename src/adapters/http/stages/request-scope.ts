import type { Middleware } from 'koa';
import type { HttpDeps } from '../http-deps.ts';
import { runInRequest } from '../request/request-scope.ts';

/** Stage 4: from here on any code of the request can read its id. */
export const requestScope = ({ clock }: HttpDeps): Middleware =>
  function requestScope({ request: { id, version } }, next) {
    return runInRequest({ requestId: id, time: clock.now(), version }, next);
  };
