import * as v from 'valibot';
import type { Service } from '../../../../application/service.ts';
import { assertLive } from '../../../../application/sessions/current-user.ts';
import { type Route, route } from '../../routing/define-route.ts';

/** For gateways that ask about each request before they pass it on, and understand a status and headers alone. ADR 0004. */
export const gatewayRoute = (deps: Service): Route => {
  const run = assertLive(deps);
  return route(
    {
      name: 'gateway',
      tag: 'tokens',
      summary: 'For gateways: whether the access token is valid, and its session live',
      description:
        'For `auth_request` of nginx, `forwardAuth` of Traefik and `forward_auth` of Caddy. Ask with the `Authorization` header of the request. 401 means that it has no valid token, or that the session has ended, or the account is disabled or deleted.',
      method: 'GET',
      path: '/auth/gateway',
      throttle: 'public',
      response: { data: v.null(), identifies: true },
    },
    async ({ caller }, ctx) => {
      await run(caller);
      ctx.set('X-User-Id', caller.userId);
      ctx.set('X-Session-Id', caller.sessionId);
      return null;
    },
  );
};
