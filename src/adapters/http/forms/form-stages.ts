import type { OutgoingHttpHeaders } from 'node:http';
import type { Middleware } from 'koa';
import { httpFailure } from '../errors/exceptions.ts';
import type { HttpDeps } from '../http-deps.ts';
import { logRequest } from '../logging/request-log.ts';
import { NO_STORE, type Route } from '../routing/define-route.ts';
import { repeatedClicks } from './repeated-clicks.ts';

/**
 * Refuses a form of another site. It could log its visitor in as somebody else, which no cookie and no SameSite prevents. So a request
 * without an Origin needs `Sec-Fetch-Site`.
 */
export const ownOrigin = ({ ownOrigins }: Pick<HttpDeps, 'ownOrigins'>): Middleware =>
  function ownOrigin(ctx, next) {
    const origin = ctx.get('Origin');
    const isOwn = origin === '' ? ctx.get('Sec-Fetch-Site') === 'same-origin' : ownOrigins.includes(origin);
    if (!isOwn) throw httpFailure(403, { reason: 'the form is not of the service' });
    return next();
  };

type Answer = { readonly location: string; readonly headers: OutgoingHttpHeaders };

/** What the handler of a form's route sets. */
const HANDED_ON = ['set-cookie', 'secure-session-registration'];

/** Sends the browser to the page that the result of a form leads to (RFC 9110 §15.4.4: with GET); after a second click, to the same. */
export const formResult = ({ succeeded }: NonNullable<Route['form']>, deps: HttpDeps): Middleware => {
  const once = repeatedClicks<Answer>();
  return async function formResult(ctx, next) {
    const { form = new Map<string, string>(), route } = ctx.state;
    const number = form.get('once') ?? '';
    const sent = JSON.stringify([route?.name, ctx.request.caller?.sessionId, ...form]);
    const { location, headers } = await once(number.length < 20 ? null : sent, async () => {
      await next();
      const to = await succeeded(ctx);
      const entries = HANDED_ON.map((name) => [name, ctx.response.headers[name]] as const);
      return { location: to, headers: Object.fromEntries(entries.filter(([, value]) => value !== undefined)) };
    });
    for (const [name, value] of Object.entries(headers)) ctx.set(name, value as string | string[]);
    ctx.set({ Location: location, 'Cache-Control': NO_STORE });
    ctx.status = 303;
    ctx.body = '';
    logRequest(ctx, deps);
  };
};
