import type { Context } from 'koa';
import { AppError } from '../../../domain/errors/app-error.ts';
import type { HttpDeps } from '../http-deps.ts';

/** Whether the request's route declares the code. An error from before a route was reached has none that could. */
export const isDeclared = ({ state: { route } }: Context, { code }: AppError): boolean =>
  route === undefined || route.errors.has(code);

/**
 * An error whose code the route does not declare is a bug of the declaration. It fails the request outside production; in
 * production the client gets the error as it is, and it is logged as undeclared.
 */
export const asDeclared = (ctx: Context, error: AppError, { environment }: Pick<HttpDeps, 'environment'>): AppError =>
  environment === 'production' || isDeclared(ctx, error)
    ? error
    : new AppError('SYS_UNEXPECTED_ERROR', {
        reason: `undeclared error code ${error.code}`,
        cause: error,
      });
