import type { Context } from 'koa';
import * as v from 'valibot';
import type { Service } from '../../../../application/service.ts';
import { registerBrowser, renewBrowser } from '../../../../application/sessions/bind-browser.ts';
import { httpFailure } from '../../errors/exceptions.ts';
import type { DeviceBoundSessions } from '../../request/browser-session.ts';
import { eventOriginOf } from '../../request/client.ts';
import { BOUND_COOKIE, type SessionCookies } from '../../request/cookies.ts';
import { NO_STORE, type Route, route } from '../../routing/define-route.ts';

/** The JWT or signed value of a header, in quotes (RFC 9651 §3.3.3), or without quotes, as Chrome sends it; empty: no such value. */
const browserHeader = (ctx: Context, header: string): string => /^"?([\w.-]+)"?$/.exec(ctx.get(header))?.[1] ?? '';

/** The response to a browser (W3C Device Bound Session Credentials, "JSON Session Instruction Format"). */
const SessionInstructions = v.pipe(
  v.object({
    session_identifier: v.string(),
    refresh_url: v.string(),
    scope: v.object({
      origin: v.string(),
      include_site: v.boolean(),
      scope_specification: v.array(
        v.object({ type: v.picklist(['include', 'exclude']), domain: v.string(), path: v.string() }),
      ),
    }),
    credentials: v.array(
      v.object({
        type: v.literal('cookie'),
        name: v.pipe(v.string(), v.examples([BOUND_COOKIE])),
        attributes: v.pipe(v.string(), v.examples(['Path=/auth; Secure; HttpOnly; SameSite=Lax'])),
      }),
    ),
    allowed_refresh_initiators: v.array(v.string()),
  }),
  v.title('BrowserSession'),
);

/** The route that browsers request by themselves. A browser forgets the key of its session after any 4xx except 403, 407 and 429. */
export const browserRoute = (deps: Service, refreshCookie: SessionCookies, browser: DeviceBoundSessions): Route => {
  const bindDeps = { ...deps, boundCookieLifetime: browser.lifetime };
  return route({
    name: 'bind-browser',
    tag: 'sessions',
    summary: 'For browsers: register a key of Device Bound Session Credentials, and renew the cookie that shows it',
    description:
      'The proof is in `Secure-Session-Response`; without one, 403 has a `Secure-Session-Challenge`. Pages do nothing for it.',
    at: 'POST /auth/device',
    cookie: { reads: 'optional', writes: 'binds' },
    auth: 'public',
    response: { data: SessionInstructions, unwrapped: { type: 'application/json', cacheControl: NO_STORE } },
    errors: ['AUTH_DEVICE_UNPROVEN', 'AUTH_FAILED', 'DB_QUERY_FAILED'],
    handler: async (_input, ctx) => {
      const proof = browserHeader(ctx, 'Secure-Session-Response');
      const identifier = browserHeader(ctx, 'Sec-Secure-Session-Id');
      if (identifier === '') return browser.instructions(await registerBrowser(bindDeps)(proof));
      const { challenge, cookie } = await renewBrowser(bindDeps)({
        identifier,
        proof: proof === '' ? null : proof,
        refreshTokens: refreshCookie.read(ctx),
        origin: eventOriginOf(ctx),
      });
      const headers = { 'Secure-Session-Challenge': `"${challenge}";id="${identifier}"` };
      if (cookie === null) throw httpFailure(403, { reason: 'the browser has to sign a challenge', headers });
      ctx.set(headers);
      browser.cookie.set(ctx, cookie);
      return browser.instructions(identifier);
    },
  });
};
