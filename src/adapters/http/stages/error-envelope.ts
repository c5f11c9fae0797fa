import type { Context, Middleware } from 'koa';
import type { AppError } from '../../../domain/errors/app-error.ts';
import { prefersHtml, respondWithHtml } from '../documents.ts';
import { contextOf, errorEnvelopeOf } from '../envelope.ts';
import { asDeclared, errorHeaders, toAppError } from '../errors/exceptions.ts';
import type { HttpDeps } from '../http-deps.ts';
import { logError, logRequest } from '../logging/request-log.ts';
import { pageLocale } from '../request/language.ts';
import { REQUEST_ID_HEADER } from './request-scope.ts';

/** Stage 13: turns an exception of any stage into the error envelope, or into a page for a browser. */
export const errorEnvelope = (deps: HttpDeps): Middleware =>
  async function errorEnvelope(ctx, next) {
    ctx.state.arrivedAt = performance.now();
    try {
      await next();
    } catch (exception) {
      ensureId(ctx, deps);
      const error = asDeclared(ctx, toAppError(exception), deps);
      // The guard accepted the token, but a use case did not: the envelope must not name its user.
      if (error.code === 'AUTH_TOKEN_INVALID') delete ctx.request.jwtClaim;
      logError(ctx, error, deps);
      await respond(ctx, error, deps);
    }
    logRequest(ctx, deps);
  };

/** Stages 1 and 2 run before stage 3 has set the request's id. */
const ensureId = (ctx: Context, { ids, version }: HttpDeps): void => {
  ctx.request.id ??= ids.next();
  ctx.request.version = version;
  ctx.set(REQUEST_ID_HEADER, ctx.request.id);
};

const respond = async (ctx: Context, error: AppError, deps: HttpDeps): Promise<void> => {
  ctx.status = error.status;
  ctx.set({ 'Cache-Control': 'no-store', ...errorHeaders(error) });
  if (wantsPage(ctx)) respondWithHtml(ctx, await errorPageOf(ctx, error, deps));
  else ctx.body = errorEnvelopeOf(error, contextOf(ctx), deps);
};

const wantsPage = (ctx: Context): boolean => {
  if (!ctx.state.route?.errorPages) return false;
  ctx.vary('Accept');
  return prefersHtml(ctx);
};

const errorPageOf = async (ctx: Context, error: AppError, deps: HttpDeps): Promise<string> => {
  const { id } = ctx.request;
  if (ctx.state.route?.errorPages !== 'users') return (await import('../pages/errors.ts')).failurePage(deps, error, id);
  ctx.vary('Accept-Language');
  const { userFailurePage } = await import('../pages/user-failure.ts');
  return userFailurePage(deps, error, id, pageLocale(ctx, deps.defaultLocale));
};
