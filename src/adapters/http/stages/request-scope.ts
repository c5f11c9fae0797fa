import { AsyncLocalStorage } from 'node:async_hooks';
import type { Middleware } from 'koa';
import type { HttpDeps } from '../http-deps.ts';

/** SPEC "Request processing", stage 4. */
export type RequestScope = {
  readonly requestId: string;
  /** Epoch milliseconds. */
  readonly time: number;
  readonly version: string;
};

const scopes = new AsyncLocalStorage<RequestScope>();

/** The request that the calling code belongs to, or `undefined` outside of a request. */
export const currentRequest = (): RequestScope | undefined => scopes.getStore();

const runInRequest = <T>(scope: RequestScope, work: () => T): T => scopes.run(scope, work);

/** Stage 4: from here on, any code that runs for the request can read its id. */
export const requestScope = ({ clock }: HttpDeps): Middleware =>
  function requestScope({ request: { id, version } }, next) {
    return runInRequest({ requestId: id, time: clock.now(), version }, next);
  };
