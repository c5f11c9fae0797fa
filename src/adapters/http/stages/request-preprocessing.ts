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
