import type { Middleware } from 'koa';
import { httpFailure } from '../errors/exceptions.ts';
import type { HttpDeps } from '../http-deps.ts';
import { logRequest } from '../logging/request-log.ts';
import { NO_STORE, type Route } from '../routing/define-route.ts';
import { originOfPage } from '../stages/arrival.ts';

/**
 * Refuses a form of another site. It could log its visitor in as somebody else, which no cookie and no SameSite prevents. So a request
 * without an Origin, or with one that is hidden, needs `Sec-Fetch-Site`. Stage 5 has refused origins that are not allowed.
 */
export const ownOrigin = (
  { ownOrigins }: Pick<HttpDeps, 'ownOrigins'>,
  { ofApplications }: Pick<NonNullable<Route['form']>, 'ofApplications'>,
): Middleware =>
  function ownOrigin(ctx, next) {
    const origin = originOfPage(ctx);
    const isOwn =
      origin === ''
        ? ctx.get('Sec-Fetch-Site') === 'same-origin'
        : ofApplications === true || ownOrigins.includes(origin);
    if (!isOwn) throw httpFailure(403, { reason: 'the form is not of the service' });
    return next();
  };

/** Sends the browser to the page that the result of a form leads to (RFC 9110 §15.4.4: with GET); after a second click, to the same. */
export const formResult =
  (deps: HttpDeps) =>
  ({ succeeded }: NonNullable<Route['form']>): Middleware =>
    async function formResult(ctx, next) {
      const { form = new Map<string, string>() } = ctx.state;
      // A hidden random number of each form tells a second click from a second attempt.
      const isNumbered = (form.get('once') ?? '').length >= 20;
      const location = await deps.answerOnce(ctx, isNumbered ? form : null, async () => {
        await next();
        return succeeded(ctx);
      });
      ctx.set({ Location: location, 'Cache-Control': NO_STORE });
      ctx.status = 303;
      ctx.body = '';
      logRequest(ctx, deps);
    };
