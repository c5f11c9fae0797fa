import * as v from 'valibot';
import { accountData, existingUser } from '../../../../application/accounts/account-data.ts';
import { endSessionAsOperator, endSessionsAsOperator } from '../../../../application/accounts/operate-accounts.ts';
import { beginEndingAll, continueEndingAll } from '../../../../application/sessions/end-all.ts';
import { type Route, route } from '../../routing/define-route.ts';
import { Id, IdParams } from '../../routing/fields.ts';
import { SessionsJson } from '../accounts/export.ts';
import { originOfOperator } from './back-office.ts';
import { type BackOfficeDeps, EndedSessions, READS, ReasonBody, RequiredReason, WRITES } from './fields.ts';

/** Sessions of one transaction, as in the background. */
const STEP = 100;
/** Milliseconds after which the rest is ended in the background: less than any sensible REQUEST_TIMEOUT_MS. */
const PATIENCE = 1_000;

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
      summary: 'End the sessions of all users; with 202, the rest ends in the background',
      request: { body: RequiredReason },
      response: { or: 202, data: v.object({ ...EndedSessions.entries, isDone: v.boolean() }) },
    },
    async ({ body }, ctx) => {
      await beginEndingAll(deps)(originOfOperator(ctx), body.reason);
      const endRest = async () => {
        while ((await continueEndingAll(deps)(STEP)) !== null);
      };
      const begunAt = performance.now();
      for (let endedSessions = 0; ; ) {
        const ended = await continueEndingAll(deps)(STEP);
        if (ended === null) return { endedSessions, isDone: true };
        endedSessions += ended;
        if (performance.now() - begunAt < PATIENCE) continue;
        ctx.state.status = 202;
        // If it fails, or the process ends, the next purge of any instance goes on.
        endRest().catch(() => undefined);
        return { endedSessions, isDone: false };
      }
    },
  ),
];
