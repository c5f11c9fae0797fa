import type { Context, Middleware, Next } from 'koa';
import { httpFailure } from '../errors/exceptions.ts';
import type { HttpDeps } from '../http-deps.ts';
import { logRequest } from '../logging/request-log.ts';
import { NO_STORE, type Route } from '../routing/define-route.ts';
import { originOfPage } from '../stages/arrival.ts';
import { readForm } from './form-validation.ts';

/**
 * Refuses a form of another site, which could log its visitor in as somebody else: SameSite does not prevent that. Stage 5 has refused origins
 * that are not allowed. A request without an Origin needs `Sec-Fetch-Site`.
 */
export const ownOrigin = ({ ownOrigins }: HttpDeps, { ofApplications }: NonNullable<Route['form']>): Middleware =>
  function ownOrigin(ctx, next) {
    const origin = originOfPage(ctx);
    const isOwn =
      origin === ''
        ? ctx.get('Sec-Fetch-Site') === 'same-origin'
        : ofApplications === true || ownOrigins.includes(origin);
    if (!isOwn) throw httpFailure(403, { reason: 'the form is not of the service' });
    return next();
  };

/** Redirects the browser to the page that shows the result of a form; after a second click, to the same page. */
export const formResultStages =
  (deps: HttpDeps) =>
  ({ succeeded, ofApplications }: NonNullable<Route['form']>) => {
    const redirect = async (ctx: Context, work: () => Promise<string>): Promise<void> => {
      const { form = new Map<string, string>(), endedSession } = ctx.state;
      // A random number in each form tells a second click from a second attempt. Applications may send the same one for all visitors.
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
          await redirect(ctx, () => Promise.reject(error));
        });
      },
      formResult: (ctx: Context, next: Next) => redirect(ctx, () => next().then(() => succeeded(ctx))),
    };
  };
