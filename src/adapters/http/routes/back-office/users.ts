import * as v from 'valibot';
import {
  existingUser,
  exportAccountAsOperator,
  listEventsAsOperator,
  userData,
} from '../../../../application/accounts/account-data.ts';
import {
  deleteAccountAsOperator,
  disableAccount,
  enableAccount,
  mailResetLink,
  makeResetLink,
  removeFactorsAsOperator,
  setAttributes,
  unlinkIdentityAsOperator,
  unlockAccount,
} from '../../../../application/accounts/operate-accounts.ts';
import { AppError } from '../../../../domain/errors/app-error.ts';
import { Timestamp } from '../../../json/public-user.ts';
import { type Route, route } from '../../routing/define-route.ts';
import { Id, IdParams } from '../../routing/fields.ts';
import { DEFAULT_LIMIT, EventsQuery } from '../accounts/events.ts';
import { ExportJson, exportOneAtATime, shownUser } from '../accounts/export.ts';
import { originOfOperator } from './back-office.ts';
import {
  Attributes,
  type BackOfficeDeps,
  Changed,
  EndedSessions,
  EventOfOperatorsJson,
  READS,
  ReasonBody,
  UserOfOperatorsJson,
  WRITES,
} from './fields.ts';

const ResetLinkBody = v.optional(
  v.pipe(v.object({ handOver: v.optional(v.boolean()) }), v.examples([{ handOver: true }])),
);

const UNSENT = [
  { field: 'handOver', code: 'invalid_value', message: 'must be true: the service sends no mail' },
] as const;

/** One user: read, changed, handed over and deleted. ADR 0031. */
export const operatedUserRoutes = (deps: BackOfficeDeps): Route[] => {
  const exported = exportOneAtATime(exportAccountAsOperator(deps));
  const events = listEventsAsOperator(deps);
  return [
    route(
      {
        ...{ ...READS, name: 'operators-user', method: 'GET', path: '/users/:id' },
        summary: 'Return a user',
        request: { params: IdParams },
        response: { data: UserOfOperatorsJson },
      },
      async ({ params }) => shownUser(userData(await existingUser(deps, params.id))),
    ),
    route(
      {
        ...{ ...WRITES, name: 'operators-delete-user', method: 'DELETE', path: '/users/:id' },
        summary: 'Delete a user and everything that is stored about them',
        request: { params: IdParams },
        response: { data: v.null() },
      },
      async ({ params }, ctx) => {
        if (await deleteAccountAsOperator(deps)(params.id, originOfOperator(ctx))) return null;
        throw new AppError('DB_RECORD_NOT_FOUND');
      },
    ),
    route(
      {
        ...{ ...READS, name: 'operators-user-events', method: 'GET', path: '/users/:id/events' },
        summary: 'List what happened to a user, the latest first, and which operator did it',
        request: { params: IdParams, query: EventsQuery },
        response: { data: v.object({ events: v.array(EventOfOperatorsJson), next: v.nullable(v.string()) }) },
      },
      ({ params, query: { before = null, limit = DEFAULT_LIMIT } }) => events(params.id, { before, limit }),
    ),
    route(
      {
        ...{ ...READS, name: 'operators-export-user', method: 'GET', path: '/users/:id/export' },
        summary: 'Return everything that is stored about a user, to hand over to them',
        request: { params: IdParams },
        response: { data: ExportJson },
      },
      async ({ params }) => {
        const { user, ...rest } = await exported(params.id);
        return { ...rest, user: shownUser(user) };
      },
    ),
    route(
      {
        ...{ ...WRITES, name: 'operators-disable-user', method: 'POST', path: '/users/:id/disable' },
        summary: 'Refuse log-ins of a user, and end all sessions',
        request: { params: IdParams, body: ReasonBody },
        response: { data: v.object({ ...Changed.entries, ...EndedSessions.entries }) },
      },
      ({ params, body }, ctx) => disableAccount(deps)(params.id, originOfOperator(ctx), body?.reason ?? null),
    ),
    route(
      {
        ...{ ...WRITES, name: 'operators-enable-user', method: 'POST', path: '/users/:id/enable' },
        summary: 'Allow log-ins of a user again',
        request: { params: IdParams },
        response: { data: Changed },
      },
      async ({ params }, ctx) => ({ changed: await enableAccount(deps)(params.id, originOfOperator(ctx)) }),
    ),
    route(
      {
        ...{ ...WRITES, name: 'operators-reset-link', method: 'POST', path: '/users/:id/reset-link' },
        summary: 'Mail a link that sets a new password to the address of the user, or make one to hand over',
        description: 'A link that is handed over proves no address: nobody knows who has it.',
        request: { params: IdParams, body: ResetLinkBody },
        response: { data: v.object({ url: v.nullable(v.string()), expiresAt: v.nullable(Timestamp) }) },
        errors: ['AUTH_ACCOUNT_DISABLED'],
      },
      async ({ params, body: { handOver = false } = {} }, ctx) => {
        if (deps.mailer === null && !handOver)
          throw new AppError('CLIENT_PARAMS_VALIDATION_FAILED', { details: UNSENT });
        const user = await existingUser(deps, params.id);
        if (user.disabledAt !== null)
          throw new AppError('AUTH_ACCOUNT_DISABLED', {
            message: 'The account is disabled: a link would not work. Enable it first.',
          });
        if (!handOver) {
          await mailResetLink(deps)(user, originOfOperator(ctx));
          return { url: null, expiresAt: null };
        }
        const { token, expiresAt } = await makeResetLink(deps)(user, originOfOperator(ctx));
        return { url: `${deps.accountPagesUrl}/password-reset#token=${token}`, expiresAt };
      },
    ),
    route(
      {
        ...{ ...WRITES, name: 'operators-set-attributes', method: 'PUT', path: '/users/:id/attributes' },
        summary: 'State attributes for the access tokens of a user, in place of the former ones',
        request: { params: IdParams, body: v.object({ attributes: Attributes }) },
        response: { data: Changed },
      },
      async ({ params, body }, ctx) => ({
        changed: await setAttributes(deps)(params.id, body.attributes, originOfOperator(ctx)),
      }),
    ),
    route(
      {
        ...{ ...WRITES, name: 'operators-remove-factors', method: 'DELETE', path: '/users/:id/factors' },
        summary: 'Remove the authenticator apps, recovery codes and passkeys of a user who has lost a device',
        request: { params: IdParams },
        response: { data: v.object({ apps: v.number(), recoveryCodes: v.number(), passkeys: v.number() }) },
      },
      ({ params }, ctx) => removeFactorsAsOperator(deps)(params.id, originOfOperator(ctx)),
    ),
    route(
      {
        ...{
          ...WRITES,
          name: 'operators-unlink-identity',
          method: 'DELETE',
          path: '/users/:id/identities/:identityId',
        },
        summary: 'Remove an identity of a user at a provider, also the last way in',
        request: { params: v.object({ id: Id, identityId: Id }) },
        response: { data: v.null() },
      },
      async ({ params: { id, identityId } }, ctx) => {
        await unlinkIdentityAsOperator(deps)(id, identityId, originOfOperator(ctx));
        return null;
      },
    ),
    route(
      {
        ...{ ...WRITES, name: 'operators-unlock-user', method: 'POST', path: '/users/:id/unlock' },
        summary: 'Forget the wrong passwords and codes of a user, so that log-ins need not wait',
        request: { params: IdParams },
        response: { data: v.null() },
      },
      async ({ params }, ctx) => {
        await unlockAccount(deps)(params.id, originOfOperator(ctx));
        return null;
      },
    ),
  ];
};
