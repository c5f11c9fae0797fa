import type { OutgoingHttpHeaders } from 'node:http';
import type { Middleware } from 'koa';
import { httpFailure, toAppError } from '../errors/exceptions.ts';
import type { HttpDeps } from '../http-deps.ts';
import { logRequest } from '../logging/request-log.ts';
import { PAGE_STATE_COOKIE, REFRESH_COOKIE } from '../request/cookies.ts';
import { NO_STORE, type Route } from '../routing/define-route.ts';
import { originOfPage } from '../stages/arrival.ts';
import { repeatedClicks } from './repeated-clicks.ts';

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

/** The answer to a form, which a second click gets as well. */
type Answer = { readonly headers: OutgoingHttpHeaders } & ({ readonly location: string } | { readonly error: unknown });

/** Cookies that do not tell one attempt from another. */
const UNREAD = [REFRESH_COOKIE, PAGE_STATE_COOKIE];

/** What the handler of a form's route sets, also with an error: that of a pending log-in. */
const HANDED_ON = ['set-cookie', 'secure-session-registration'];

/** Sends the browser to the page that the result of a form leads to (RFC 9110 §15.4.4: with GET); after a second click, to the same. */
export const formResult = (deps: HttpDeps) => {
  const once = repeatedClicks<Answer>((answer) => !('error' in answer) || toAppError(answer.error).status < 500);
  return ({ succeeded }: NonNullable<Route['form']>): Middleware =>
    async function formResult(ctx, next) {
      const { form = new Map<string, string>() } = ctx.state;
      const number = form.get('once') ?? '';
      // The session stays the same while its token is renewed, and what a page says is for one view.
      const cookies = [...ctx.request.cookies].filter(([name]) => !UNREAD.some((each) => name.endsWith(each)));
      const sent = JSON.stringify([ctx.path, ctx.request.caller?.sessionId, cookies, ...form]);
      const answer = await once(number.length < 20 ? null : sent, async () => {
        const result = await next().then(
          async () => ({ location: await succeeded(ctx) }),
          (error: unknown) => ({ error }),
        );
        const entries = HANDED_ON.map((name) => [name, ctx.response.headers[name]] as const);
        return { ...result, headers: Object.fromEntries(entries.filter(([, value]) => value !== undefined)) };
      });
      for (const [name, value] of Object.entries(answer.headers)) ctx.set(name, value as string | string[]);
      if ('error' in answer) throw answer.error;
      ctx.set({ Location: answer.location, 'Cache-Control': NO_STORE });
      ctx.status = 303;
      ctx.body = '';
      logRequest(ctx, deps);
    };
};
