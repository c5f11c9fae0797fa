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
  endSessionsAsOperator,
  makeResetLink,
  removeFactorsAsOperator,
  setAttributes,
} from '../../../../application/accounts/operate-accounts.ts';
import type { AccountsDeps } from '../../../../application/deps.ts';
import { readAttributes } from '../../../../domain/attributes.ts';
import { AppError } from '../../../../domain/errors/app-error.ts';
import { AttributesJson, Timestamp } from '../../../json/public-user.ts';
import { type Route, route } from '../../routing/define-route.ts';
import { IdParams } from '../../routing/fields.ts';
import { DEFAULT_LIMIT, EventsQuery, StoredEventJson } from '../accounts/events.ts';
import { ExportJson, exportOneAtATime, StoredUserJson, shownUser } from '../accounts/export.ts';
import { originOfOperator, ReasonBody } from './back-office.ts';

export type BackOfficeDeps = AccountsDeps & {
  /** Below it, links find their pages. */
  readonly accountPagesUrl: string;
};

const UserOfOperatorsJson = v.pipe(
  StoredUserJson,
  v.title('StoredUser'),
  v.examples([
    {
      ...{ id: '01M805M084GXA5E2JTR4FKH6WN', username: 'ada', email: 'ada@example.org', locale: 'en-GB' },
      ...{ createdAt: '2026-11-21T23:03:48.228Z', updatedAt: '2026-11-21T23:03:48.228Z', passwordChangedAt: null },
      ...{ emailVerifiedAt: null, disabledAt: null, secondFactorAt: null, attributes: { roles: ['admin'] } },
    },
  ]),
);

/** With the name of the operator, which users do not see. */
const EventOfOperatorsJson = v.object({ ...StoredEventJson.entries, actor: v.nullable(v.string()) });

export const Attributes = v.pipe(
  AttributesJson,
  v.rawCheck(({ dataset, addIssue }) => {
    const problem = dataset.typed ? problemOf(dataset.value) : null;
    if (problem !== null) addIssue({ received: 'invalid_value', message: problem });
  }),
  v.metadata({ jsonSchema: { type: 'object', description: 'At most 1,024 bytes as JSON. {} removes them.' } }),
  v.examples([{ roles: ['admin'] }]),
);

const problemOf = (attributes: object): string | null => {
  try {
    readAttributes(JSON.stringify(attributes));
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : 'cannot be read';
  }
};

const Changed = v.object({ changed: v.boolean() });
const EndedSessions = v.object({ endedSessions: v.number() });

export const READS = { tag: 'back-office', auth: 'users:read' } as const;
export const WRITES = { tag: 'back-office', auth: 'users:write' } as const;

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
        ...{ ...WRITES, name: 'operators-reset-link', method: 'POST', path: '/users/:id/reset-link' },
        summary: 'Make a link that sets a new password once, to hand over to the user',
        request: { params: IdParams },
        response: { data: v.object({ url: v.string(), expiresAt: Timestamp }) },
        errors: ['AUTH_ACCOUNT_DISABLED'],
      },
      async ({ params }, ctx) => {
        const user = await existingUser(deps, params.id);
        if (user.disabledAt !== null)
          throw new AppError('AUTH_ACCOUNT_DISABLED', {
            message: 'The account is disabled: a link would not work. Enable it first.',
          });
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
  ];
};
