import type { Context, Middleware, Next } from 'koa';
import { httpFailure } from '../errors/exceptions.ts';
import type { HttpDeps } from '../http-deps.ts';
import { logRequest } from '../logging/request-log.ts';
import { NO_STORE, type Route } from '../routing/define-route.ts';
import { originOfPage } from '../stages/arrival.ts';
import { readForm } from './form-validation.ts';

/**
 * Refuses a form of another origin, unless applications may post it. Another site could log its visitor in as somebody else, which SameSite does not
 * prevent. Stage 5 has already refused origins that are not allowed. A request without an `Origin` must have `Sec-Fetch-Site: same-origin`.
 */
export const ownOrigin = ({ ownOrigins }: HttpDeps, { allowsApplications }: NonNullable<Route['form']>): Middleware =>
  function ownOrigin(ctx, next) {
    const origin = originOfPage(ctx);
    const isOwn =
      origin === ''
        ? ctx.get('Sec-Fetch-Site') === 'same-origin'
        : allowsApplications === true || ownOrigins.includes(origin);
    if (!isOwn) throw httpFailure(403, { reason: 'the form is not of the service' });
    return next();
  };

/** Stages that redirect the browser to where the result of a form leads. A second click may get the stored result of the first one (`answerOnce`). */
export const formResultStages =
  (deps: HttpDeps) =>
  ({ successLocation, allowsApplications }: NonNullable<Route['form']>) => {
    const redirect = async (ctx: Context, work: () => Promise<string>): Promise<void> => {
      const { form = new Map<string, string>(), endedSession } = ctx.state;
      // A random number tells a second click from a second attempt. If applications may post the form, it may be missing, or always the same.
      const isNumbered = allowsApplications !== true && (form.get('once') ?? '').length >= 20;
      const session = ctx.request.caller?.sessionId ?? endedSession ?? '';
      const location = await deps.answerOnce(ctx, isNumbered ? [['session', session], ...form] : null, work);
      ctx.set({ Location: location, 'Cache-Control': NO_STORE });
      ctx.status = 303;
      ctx.body = '';
      logRequest(ctx, deps);
    };
    return {
      /** Surrounds the guard: the first click may have ended the session with which the browser sends the second click. */
      async resultAfterSessionEnd(ctx: Context, next: Next) {
        await next().catch(async (error) => {
          const form = ctx.state.endedSession === undefined ? null : await readForm(ctx).catch(() => null);
          if (form === null) throw error;
          ctx.state.form = form;
          await redirect(ctx, () => Promise.reject(error));
        });
      },
      formResult: (ctx: Context, next: Next) => redirect(ctx, () => next().then(() => successLocation(ctx))),
    };
  };
