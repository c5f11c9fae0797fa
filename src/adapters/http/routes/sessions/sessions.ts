import * as v from 'valibot';
import type { Service } from '../../../../application/service.ts';
import * as manage from '../../../../application/sessions/manage-sessions.ts';
import { RECENT_AUTHENTICATION } from '../../../../domain/assurance.ts';
import { SessionJson } from '../../../json/account.ts';
import { deviceNames } from '../../../json/device-names.ts';
import { IdParams, RefreshResult } from '../../../json/fields.ts';
import { eventOriginOf } from '../../request/client.ts';
import type { SessionCookies } from '../../request/cookies.ts';
import { type Route, route } from '../../routing/define-route.ts';

const EndSessionsQuery = v.strictObject({ except: v.optional(v.picklist(['current'])) });

/** Users list and end their own sessions (ADR 0005). */
export const sessionRoutes = (deps: Service, cookie: SessionCookies): Route[] => [
  route({
    name: 'sessions',
    tag: 'sessions',
    summary: 'List the sessions and the remembered devices of the user',
    description: 'The one used last comes first. `name` is what the client says of itself: show it as text.',
    at: 'GET /auth/sessions',
    response: { data: v.array(SessionJson) },
    handler: async ({ caller }) => {
      const sessions = await manage.listSessions(deps)(caller);
      const nameOf = await deviceNames();
      return sessions.map((session) => ({ ...session, name: nameOf(session.userAgent) }));
    },
  }),
  route({
    name: 'end-sessions',
    tag: 'sessions',
    summary:
      'End all sessions of the user and forget the remembered devices, and open a new session for the caller with except=current',
    description:
      'With `except=current`, a new session takes the place of that of the token, with new tokens; one that is bound to its device stays, and `data` is null. Without it, call `GET /auth/clear-cookie` as well.',
    at: 'DELETE /auth/sessions',
    stepUp: RECENT_AUTHENTICATION,
    cookie: { reads: 'optional', writes: 'may-set' },
    request: { query: EndSessionsQuery },
    response: { data: v.nullable(RefreshResult) },
    errors: ['AUTH_FAILED'],
    handler: async ({ caller, query, signal }, ctx) => {
      if (query.except === undefined) {
        await manage.endAllSessions(deps)(caller, eventOriginOf(ctx));
        cookie.clearAccess(ctx);
        return null;
      }
      const ending = { ...caller, presented: cookie.read(ctx), origin: eventOriginOf(ctx) };
      const pair = await manage.endOtherSessions(deps)(ending, signal);
      return pair && cookie.set(ctx, pair);
    },
  }),
  route({
    name: 'end-session',
    tag: 'sessions',
    summary: 'End one session of the user, or forget one remembered device',
    at: 'DELETE /auth/sessions/:id',
    stepUp: RECENT_AUTHENTICATION,
    cookie: { writes: 'access' },
    request: { params: IdParams },
    handler: async ({ caller, params }, ctx) => {
      await manage.endOwnSession(deps)(caller, params.id, eventOriginOf(ctx));
      if (params.id === caller.sessionId) cookie.clearAccess(ctx);
    },
  }),
];
