import * as v from 'valibot';
import { accountData, existingUser } from '../../../../application/accounts/account-data.ts';
import { endSessionAsOperator, endSessionsAsOperator } from '../../../../application/accounts/operate-accounts.ts';
import { endAllSessions } from '../../../../application/sessions/end-all.ts';
import { type Route, route } from '../../routing/define-route.ts';
import { Id, IdParams } from '../../routing/fields.ts';
import { SessionsJson } from '../accounts/export.ts';
import { originOfOperator } from './back-office.ts';
import { type BackOfficeDeps, EndedSessions, READS, ReasonBody, RequiredReason, WRITES } from './fields.ts';

/** The sessions of one user, and of all. */
export const operatedSessionRoutes = (deps: BackOfficeDeps): Route[] => [
  route(
    {
      ...{ ...READS, name: 'operators-sessions', method: 'GET', path: '/users/:id/sessions' },
      summary: 'List the sessions of a user',
      request: { params: IdParams },
      response: { data: v.object({ sessions: SessionsJson }) },
    },
    async ({ params }) => {
      const { sessions } = await accountData(deps, await existingUser(deps, params.id), deps.clock.now());
      return { sessions };
    },
  ),
  route(
    {
      ...{ ...WRITES, name: 'operators-end-sessions', method: 'DELETE', path: '/users/:id/sessions' },
      summary: 'End all sessions of a user',
      request: { params: IdParams, body: ReasonBody },
      response: { data: EndedSessions },
    },
    async ({ params, body }, ctx) => {
      const { id } = await existingUser(deps, params.id);
      return { endedSessions: await endSessionsAsOperator(deps)(id, originOfOperator(ctx), body?.reason ?? null) };
    },
  ),
  route(
    {
      ...{ ...WRITES, name: 'operators-end-session', method: 'DELETE', path: '/users/:id/sessions/:sessionId' },
      summary: 'End one session of a user, or forget a remembered device',
      request: { params: v.object({ id: Id, sessionId: Id }), body: ReasonBody },
      response: { data: v.null() },
    },
    async ({ params: { id, sessionId }, body }, ctx) => {
      await endSessionAsOperator(deps)(id, sessionId, originOfOperator(ctx), body?.reason ?? null);
      return null;
    },
  ),
  route(
    {
      ...{ ...WRITES, name: 'operators-end-all-sessions', method: 'DELETE', path: '/sessions' },
      summary: 'End the sessions of all users, which are removed in the background',
      request: { body: RequiredReason },
      response: { status: 202, data: v.null() },
    },
    async ({ body }, ctx) => {
      await endAllSessions(deps)(originOfOperator(ctx), body.reason);
      return null;
    },
  ),
];
