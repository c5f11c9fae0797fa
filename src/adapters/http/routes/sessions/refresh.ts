import type { Context } from 'koa';
import * as v from 'valibot';
import type { Service } from '../../../../application/service.ts';
import { logout } from '../../../../application/sessions/end-sessions.ts';
import type { OpenedSession } from '../../../../application/sessions/open-session.ts';
import { refresh } from '../../../../application/sessions/refresh.ts';
import { BindingCode, Proof } from '../../../json/fields.ts';
import { PublicUserJson } from '../../../json/public-user.ts';
import { clientCancellation, originOf, type PresentedDevice } from '../../request/client.ts';
import { type HttpOnlyCookie, isCrossSite, type SessionCookies } from '../../request/cookies.ts';
import { type Route, route } from '../../routing/define-route.ts';
import type { BrowserSession } from './browser.ts';

/** How the routes see the device of a request, and what they send it. */
export type DeviceAccess = {
  readonly cookie: SessionCookies;
  readonly pendingLogin: HttpOnlyCookie;
  readonly pendingCode: HttpOnlyCookie;
  readonly rememberedDevice: HttpOnlyCookie;
  readonly device: PresentedDevice;
  /** `null`: browsers hold no keys. */
  readonly browser: BrowserSession | null;
  /** Links to an account what the browser has kept of a sign-in before it has logged in. `undefined`: there are no providers. */
  readonly linkKept: ((ctx: Context, session: OpenedSession) => Promise<void>) | undefined;
};

export const AccessToken = v.pipe(v.string(), v.examples(['eyJhbGciOiJFUzI1NiIs…']));

export const RefreshResult = v.object({ accessToken: AccessToken });

/** The whole body may be missing (SPEC "Endpoints": refresh has none). */
const RefreshBody = v.optional(
  v.pipe(v.object({ proof: v.optional(Proof), bindingCode: v.optional(BindingCode) }), v.examples([{}])),
);

/** Of a request whose proof of its device is missing, not valid, or of another time. */
export const PROOF_ERRORS = ['AUTH_DEVICE_UNPROVEN', 'AUTH_PROOF_EXPIRED'] as const;

/** SPEC "Endpoints". The refresh token is sent in the cookie alone. */
export const refreshRoutes = (deps: Service, { cookie, device, browser }: DeviceAccess): Route[] => {
  const useCases = { refresh: refresh(deps), logout: logout(deps) };
  return [
    route(
      {
        name: 'refresh',
        tag: 'tokens',
        summary: 'Renew both tokens',
        method: 'POST',
        path: '/auth/refresh-token',
        cookie: { reads: 'required', writes: 'sets' },
        auth: 'public',
        request: { body: RefreshBody },
        response: { data: RefreshResult },
        errors: ['AUTH_FAILED', ...PROOF_ERRORS, 'DB_QUERY_FAILED'],
      },
      async ({ body, signal }, ctx) => {
        const tokens = isCrossSite(ctx) ? [] : cookie.read(ctx);
        const client = await clientCancellation(ctx);
        const { proof, bindingCode } = body ?? {};
        const presented = device(ctx, proof);
        const asked = { cancellation: signal, client, origin: originOf(ctx), presented, bindingCode };
        const { refreshToken, accessToken, binding } = await useCases.refresh(tokens, asked);
        ctx.state.binding = binding;
        cookie.set(ctx, { refreshToken, accessToken });
        return { accessToken };
      },
    ),
    route(
      {
        name: 'clear-cookie',
        tag: 'tokens',
        summary: 'Log out: end the session and clear the cookie',
        method: 'GET',
        path: '/auth/clear-cookie',
        cookie: { reads: 'optional', writes: 'clears' },
        auth: 'public',
        response: { data: v.null() },
        errors: ['DB_QUERY_FAILED'],
      },
      async (_input, ctx) => {
        if (isCrossSite(ctx)) return null;
        await useCases.logout(cookie.read(ctx), originOf(ctx));
        cookie.clear(ctx);
        browser?.cookie.clear(ctx);
        return null;
      },
    ),
    route(
      {
        name: 'session',
        tag: 'tokens',
        summary: 'Return what the access token says, whether or not its session is live',
        method: 'GET',
        path: '/auth/session',
        auth: 'optional',
        response: { data: v.object({ authenticated: v.boolean(), user: v.nullable(PublicUserJson) }) },
      },
      ({ claims }) => ({ authenticated: claims !== undefined, user: claims?.user ?? null }),
    ),
  ];
};
