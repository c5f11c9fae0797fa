import type { Context, Middleware, Next } from 'koa';
import { httpFailure } from '../errors/exceptions.ts';
import type { HttpDeps } from '../http-deps.ts';
import { logRequest } from '../logging/request-log.ts';
import { NO_STORE, type Route } from '../routing/define-route.ts';
import { originOfPage } from '../stages/arrival.ts';
import { readForm } from './form-validation.ts';

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
  ({ succeeded, ofApplications }: NonNullable<Route['form']>) => {
    const goOn = async (ctx: Context, work: () => Promise<string>): Promise<void> => {
      const { form = new Map<string, string>(), endedSession } = ctx.state;
      // A hidden random number of each form tells a second click from a second attempt. An application may give all its visitors the same.
      const isNumbered = ofApplications !== true && (form.get('once') ?? '').length >= 20;
      const session = ctx.request.caller?.sessionId ?? endedSession ?? '';
      const location = await deps.answerOnce(ctx, isNumbered ? [['session', session], ...form] : null, work);
      ctx.set({ Location: location, 'Cache-Control': NO_STORE });
      ctx.status = 303;
      ctx.body = '';
      logRequest(ctx, deps);
    };
    return {
      /** Surrounds the guard: the first click may have ended the session of the second one. */
      async resultAfterEnd(ctx: Context, next: Next) {
        await next().catch(async (error) => {
          const form = ctx.state.endedSession === undefined ? null : await readForm(ctx).catch(() => null);
          if (form === null) throw error;
          ctx.state.form = form;
          await goOn(ctx, () => Promise.reject(error));
        });
      },
      formResult: (ctx: Context, next: Next) => goOn(ctx, () => next().then(() => succeeded(ctx))),
    };
  };
