import type { Context } from 'koa';
import * as v from 'valibot';
import type { Service } from '../../../../application/service.ts';
import { continueNavigation, mintAccessToken } from '../../../../application/sessions/rendered-pages.ts';
import { AppError } from '../../../../domain/errors/app-error.ts';
import { RefreshResult } from '../../../json/fields.ts';
import { documentRoute, HTML_TEXT, HTML_TYPE, SCRIPT_TYPE } from '../../documents.ts';
import { httpFailure } from '../../errors/exceptions.ts';
import { Target, type TargetSettings } from '../../forms/targets.ts';
import type { ContinueTargets } from '../../pages/continue.ts';
import { type DeviceAccess, eventOriginOf } from '../../request/client.ts';
import type { PageServer } from '../../request/settings.ts';
import { NO_STORE, type Route, route } from '../../routing/define-route.ts';

/** Routes for pages that a server renders. ADR 0023. */

export type NavigationSettings = TargetSettings & {
  readonly loginPageUrl: string;
  readonly renderPage: (ctx: Context, targets: ContinueTargets) => Promise<string>;
  readonly contentSecurityPolicy: string;
};

/** Whether the browser navigates. Requests of scripts, frames and images have other values of these headers (W3C Fetch Metadata). */
const isNavigation = (ctx: Context): boolean =>
  ctx.get('Sec-Fetch-Mode') === 'navigate' && ctx.get('Sec-Fetch-Dest') === 'document';

/** Routes for navigations without a valid access token: they lead to the target or the log-in. @param script of the page that proves a key */
export const continueRoutes = (
  deps: Service,
  { cookie, readPresentedDevice }: DeviceAccess,
  settings: NavigationSettings,
  script: string,
): Route[] => {
  const renew = continueNavigation(deps);
  return [
    route({
      name: 'continue',
      tag: 'tokens',
      summary: 'For navigations: renew both tokens, and go on to a page, or to the page that logs in',
      description:
        'Only with ACCESS_COOKIE=true, for a server that has got no valid access token. Answers 303 with `to`, a URL of an allowed origin, or with LOGIN_PAGE_URL if nobody is logged in. A session with a key of its device gets a page that proves it and goes on.',
      at: 'GET /auth/continue',
      cookie: { reads: 'optional', writes: 'may-set' },
      auth: 'public',
      request: { query: v.looseObject({ to: Target(settings) }) },
      response: {
        data: HTML_TEXT,
        unwrapped: { type: HTML_TYPE, cacheControl: NO_STORE, contentSecurityPolicy: settings.contentSecurityPolicy },
        redirects: true,
      },
      errorPages: true,
      errors: ['DB_QUERY_FAILED'],
      handler: async ({ query, signal }, ctx) => {
        if (!isNavigation(ctx)) throw httpFailure(400, { reason: 'the request is no navigation of a browser' });
        const presented = readPresentedDevice(ctx, undefined);
        const tokens = cookie.read(ctx);
        const continuation = await renew(tokens, { cancellation: signal, origin: eventOriginOf(ctx), presented });
        const to = new URL(query.to).href;
        const loginPage = new URL(settings.loginPageUrl);
        loginPage.searchParams.set('to', to);
        if (continuation.next === 'proof') return settings.renderPage(ctx, { to, login: loginPage.href });
        ctx.state.location = loginPage.href;
        if (continuation.next === 'login') {
          // Without a refresh token, the access cookie stays: the browser may have a `Strict` refresh cookie that it does not send here.
          if (tokens.length > 0) cookie.clearAccess(ctx);
          return '';
        }
        if (continuation.refreshToken !== null) cookie.set(ctx, continuation);
        else if (continuation.accessToken !== null) cookie.setAccess(ctx, { accessToken: continuation.accessToken });
        ctx.state.location = to;
        return '';
      },
    }),
    documentRoute({
      name: 'continue-page-script',
      summary: 'Return the script of the page that renews a session whose device has a key',
      path: '/continue-page.js',
      type: SCRIPT_TYPE,
      text: "import { createAuthClient } from './client.js';…",
      read: () => script,
    }),
  ];
};

/** Returns an access token to a server that renders a page, and passes on the refresh cookie of its visitor (ADR 0023). */
export const accessTokenRoute = (deps: Service, { cookie }: DeviceAccess, pageServers: readonly PageServer[]): Route =>
  route({
    name: 'access-token',
    tag: 'tokens',
    summary: 'For servers that render pages: return an access token of the visitor. It rotates nothing',
    description:
      'Only with PAGE_SERVERS: HTTP Basic with the id and the secret of one, the refresh cookie of the visitor, and in `X-Visitor-Address` the address by which the request is counted. A session with a key of its device needs `GET /auth/continue`.',
    at: 'POST /auth/access-token',
    cookie: { reads: 'required' },
    auth: 'public',
    pageServers,
    response: { data: RefreshResult },
    errors: [
      ...(['AUTH_PAGE_SERVER_UNKNOWN', 'AUTH_FAILED', 'AUTH_DEVICE_UNPROVEN'] as const),
      ...(['DB_QUERY_FAILED', 'SYS_HOOK_UNAVAILABLE'] as const),
    ],
    handler: async (_input, ctx) => {
      if (ctx.state.pageServer === undefined) throw new AppError('AUTH_PAGE_SERVER_UNKNOWN');
      return { accessToken: await mintAccessToken(deps)(cookie.read(ctx), eventOriginOf(ctx)) };
    },
  });
