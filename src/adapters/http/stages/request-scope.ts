import { AsyncLocalStorage } from 'node:async_hooks';
import type { Middleware } from 'koa';
import type { HttpDeps } from '../http-deps.ts';

export const REQUEST_ID_HEADER = 'svc-request-id';
/** Printable ASCII of a length that suits the log. Any other value is replaced. */
const REUSABLE_ID = /^[\x20-\x7e]{1,128}$/;

/** Stage 3: sets the request's id and the version. */
export const requestPreprocessing = ({ ids, version }: HttpDeps): Middleware =>
  function requestPreprocessing(ctx, next) {
    const given = ctx.get(REQUEST_ID_HEADER);
    ctx.request.id = REUSABLE_ID.test(given) ? given : ids.next();
    ctx.request.version = version;
    ctx.set(REQUEST_ID_HEADER, ctx.request.id);
    return next();
  };

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

/** Stage 4: from here on, any code that runs for the request can read its id. */
export const requestScope = ({ clock }: HttpDeps): Middleware =>
  function requestScope({ request: { id, version } }, next) {
    return scopes.run({ requestId: id, time: clock.now(), version }, next);
  };
