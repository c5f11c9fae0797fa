import * as v from 'valibot';
import type { Service } from '../../../../application/service.ts';
import { assertLive } from '../../../../application/sessions/current-user.ts';
import { logout } from '../../../../application/sessions/end-sessions.ts';
import { refresh } from '../../../../application/sessions/refresh.ts';
import { BindingCode, Proof, PublicUserJson, RefreshResult } from '../../../json/fields.ts';
import { cancellationOf, type DeviceAccess, eventOriginOf, PROOF_ERRORS } from '../../request/client.ts';
import { isCrossSite } from '../../request/cookies.ts';
import { type Route, route } from '../../routing/define-route.ts';
import type { EndedFeed } from '../service/ended-sessions.ts';

/** The body is optional: SPEC "Endpoints" has none. */
const RefreshBody = v.optional(v.object({ proof: v.optional(Proof), bindingCode: v.optional(BindingCode) }));

/** Refresh and log-out (SPEC "Endpoints"), and what an access token says. @param endedFeed `null`: the signer of tokens cannot sign the list */
export const refreshRoutes = (deps: Service, deviceAccess: DeviceAccess, endedFeed: EndedFeed | null): Route[] => {
  const { cookie, readPresentedDevice, browser } = deviceAccess;
  const renew = refresh(deps);
  return [
    route({
      name: 'refresh',
      tag: 'tokens',
      summary: 'Renew both tokens',
      description:
        'Send it with `keepalive: true`. The former refresh token is used up: after `AUTH_FAILED`, which another tab may have caused, wait for 100 to 500 ms and try again, three times at most. A token that comes back later than JWT_REFRESH_RACE_WINDOW ends the session. `bindingCode` is the parameter `tandem_code` of the address that a log-in at the pages has led back to.',
      at: 'POST /auth/refresh-token',
      cookie: { reads: 'required', writes: 'sets' },
      auth: 'public',
      request: { body: RefreshBody },
      response: { data: RefreshResult },
      errors: ['AUTH_FAILED', ...PROOF_ERRORS, 'DB_QUERY_FAILED'],
      handler: async ({ body, signal }, ctx) => {
        const tokens = cookie.readOwn(ctx);
        const client = await cancellationOf(ctx);
        const presented = readPresentedDevice(ctx, body?.proof);
        const source = { cancellation: signal, client, origin: eventOriginOf(ctx), presented };
        const renewal = await renew(tokens, { ...source, bindingCode: body?.bindingCode });
        ctx.state.binding = renewal.binding;
        return cookie.set(ctx, renewal);
      },
    }),
    route({
      name: 'clear-cookie',
      tag: 'tokens',
      summary: 'Log out: end the session and clear the cookie',
      description:
        '200 whether or not there was a session. What nobody has asked for, such as a prefetch or an image, gets 400; what another site causes changes nothing.',
      at: 'GET /auth/clear-cookie',
      cookie: { reads: 'optional', writes: 'clears' },
      auth: 'public',
      errors: ['DB_QUERY_FAILED'],
      handler: async (_input, ctx) => {
        if (isCrossSite(ctx)) return;
        await logout(deps)(cookie.read(ctx), eventOriginOf(ctx));
        cookie.clear(ctx);
        browser?.cookie.clear(ctx);
      },
    }),
    route({
      name: 'session',
      tag: 'tokens',
      summary: 'Return what the access token says, unless its session is known to have ended',
      description:
        'The database is not asked: a session that has ended is known two seconds later. The cookie is not used.',
      at: 'GET /auth/session',
      auth: 'optional',
      response: {
        data: v.object({ authenticated: v.pipe(v.boolean(), v.examples([true])), user: v.nullable(PublicUserJson) }),
      },
      handler: async ({ claims, caller }) => {
        const isLive = claims !== undefined && !(caller && (await endedFeed?.includes({ ...caller, claims })));
        return { authenticated: isLive, user: isLive ? claims.user : null };
      },
    }),
  ];
};

/** For gateways, which ask about the token of each request before they forward the request, and only read the status and headers (ADR 0004). */
export const gatewayRoute = (deps: Service): Route =>
  route({
    name: 'gateway',
    tag: 'tokens',
    summary: 'For gateways: whether the access token is valid, and its session live',
    description:
      'For `auth_request` of nginx, `forwardAuth` of Traefik and `forward_auth` of Caddy. Ask with the `Authorization` header of the request. 401 means that it has no valid token, or that the session has ended, or the account is disabled or deleted. For tokens that are bound to a key, send the header `DPoP` of the request as well, and its method, host and path as `X-Forwarded-Method`, `X-Forwarded-Host` and `X-Forwarded-Uri`.',
    at: 'GET /auth/gateway',
    throttle: 'public',
    response: { identifies: true },
    handler: async ({ caller }, ctx) => {
      await assertLive(deps)(caller);
      ctx.set('X-User-Id', caller.userId);
      ctx.set('X-Session-Id', caller.sessionId);
    },
  });
