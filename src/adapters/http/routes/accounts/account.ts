import * as v from 'valibot';
import { listEvents } from '../../../../application/accounts/account-data.ts';
import { requestConfirmationCode } from '../../../../application/accounts/confirm-owner.ts';
import {
  changeLocale,
  changePassword,
  changeUsername,
  deleteAccount,
} from '../../../../application/accounts/profile.ts';
import type { Service } from '../../../../application/service.ts';
import { getCurrentUser } from '../../../../application/sessions/current-user.ts';
import { FACTOR_CHANGE, WITH_PASSWORD } from '../../../../domain/assurance.ts';
import type { PasswordLimits } from '../../../../domain/password.ts';
import { EventsPage } from '../../../json/account.ts';
import { deviceNames } from '../../../json/device-names.ts';
import * as fields from '../../../json/fields.ts';
import { eventOriginOf } from '../../request/client.ts';
import type { SessionCookies } from '../../request/cookies.ts';
import { type Route, route } from '../../routing/define-route.ts';

export const EventsQuery = v.strictObject({ before: v.optional(fields.Id), limit: v.optional(fields.Limit) });

export const LocaleBody = v.object({ locale: fields.Locale });

export const changePasswordBody = (limits: PasswordLimits) =>
  v.object({ currentPassword: fields.CurrentPassword, newPassword: fields.newPassword(limits) });

export const ChangeUsernameBody = v.object({ username: fields.Username });

const DeleteAccountBody = v.object({ password: fields.CurrentPassword });

/** With PASSWORDS=optional, one of these members of the body confirms a change of the address or the deletion of the account. */
export const CONFIRMATION_MEMBERS = { password: v.optional(fields.CurrentPassword), code: v.optional(fields.MailCode) };
export const PasswordlessDeletionBody = v.pipe(v.object(CONFIRMATION_MEMBERS), v.examples([{ code: '48151623' }]));

export const confirmationErrors = ({ passwords }: Service) =>
  passwords === 'optional' ? (['AUTH_CODE_INVALID'] as const) : [];

export const ACCOUNT_ROUTE = { tag: 'account', throttle: 'strict' } as const;

/** Users read, change and delete their account (ADR 0010), and read its events (ADR 0011). */
export const accountRoutes = (deps: Service, cookie: SessionCookies): Route[] => [
  route({
    name: 'current-user',
    tag: 'users',
    summary: 'Return the user as stored now',
    description:
      '`attributes` is what an operator has stated about the user. `locale` is null for that of the service.',
    stepUp: null,
    at: 'GET /users/me',
    response: { data: fields.CurrentUserJson },
    handler: ({ caller }) => getCurrentUser(deps)(caller),
  }),
  route({
    name: 'change-current-user',
    tag: 'users',
    summary: "Change the language of the user's mails",
    stepUp: null,
    at: 'PATCH /users/me',
    request: { body: LocaleBody },
    response: { data: fields.CurrentUserJson },
    handler: ({ caller, body }, ctx) => changeLocale(deps)(caller, body.locale, eventOriginOf(ctx)),
  }),
  route({
    ...ACCOUNT_ROUTE,
    name: 'change-password',
    summary: 'Change the password, end all sessions and open a new one for the caller',
    description:
      'The session of the access token ends, too: use the new one. A user without a password asks for a link by `POST /auth/password-reset`.',
    at: 'PUT /users/me/password',
    cookie: { writes: 'sets' },
    stepUp: WITH_PASSWORD,
    request: { body: changePasswordBody(deps.passwordLimits) },
    response: { data: fields.RefreshResult },
    errors: ['AUTH_CREDENTIALS_INVALID'],
    handler: async ({ claims, caller, body, signal }, ctx) => {
      const change = { ...body, ...caller, tokenIssuedAt: claims.iat, origin: eventOriginOf(ctx) };
      return cookie.set(ctx, await changePassword(deps)(change, signal));
    },
  }),
  route({
    ...ACCOUNT_ROUTE,
    name: 'change-username',
    summary: 'Change the username',
    description:
      'Access tokens have the former name until they are refreshed. It is free at once: identify users by `id`.',
    at: 'PUT /users/me/username',
    stepUp: FACTOR_CHANGE,
    request: { body: ChangeUsernameBody },
    response: { data: fields.PublicUserJson },
    errors: ['AUTH_USER_DUPLICATE'],
    handler: ({ caller, body }, ctx) => changeUsername(deps)(caller, body.username, eventOriginOf(ctx)),
  }),
  route({
    ...ACCOUNT_ROUTE,
    name: 'delete-account',
    summary: 'Delete the user and everything that is stored about them',
    description:
      'It cannot be undone. 400 for `body` says that a proxy has dropped it. With PASSWORDS=optional, `code` may stand for the password.',
    at: 'DELETE /users/me',
    cookie: { writes: 'clears' },
    stepUp: WITH_PASSWORD,
    request: { body: deps.passwords === 'optional' ? PasswordlessDeletionBody : DeleteAccountBody },
    errors: ['AUTH_CREDENTIALS_INVALID', ...confirmationErrors(deps), 'SYS_HOOK_UNAVAILABLE'],
    handler: async ({ claims, caller, body, signal }, ctx) => {
      const deletion = { ...body, ...caller, tokenIssuedAt: claims.iat, origin: eventOriginOf(ctx) };
      await deleteAccount(deps)(deletion, signal);
      cookie.clear(ctx);
    },
  }),
  ...(deps.passwords !== 'optional' || deps.mailer === null
    ? []
    : [
        route({
          ...ACCOUNT_ROUTE,
          name: 'request-confirmation-code',
          summary: 'Mail a code to the address of the user, with which they change it or delete the account',
          description: 'With PASSWORDS=optional. It works once, within ten minutes.',
          at: 'POST /users/me/code',
          response: { status: 202 },
          handler: ({ caller }, ctx) => requestConfirmationCode(deps)(caller, eventOriginOf(ctx)),
        }),
      ]),
  route({
    name: 'events',
    tag: 'account',
    summary: 'List what happened to the account, the latest first',
    description:
      'They are kept for EVENTS_RETENTION. Refused log-ins, and log-ins with one program from one network, are one event an hour with a `count`. Accept kinds and reasons that you do not know.',
    at: 'GET /users/me/events',
    request: { query: EventsQuery },
    response: { data: EventsPage },
    handler: async ({ caller, query: { before = null, limit = fields.DEFAULT_LIMIT } }) => {
      const { events, next } = await listEvents(deps)(caller, { before, limit });
      const nameOf = await deviceNames();
      return { events: events.map((event) => ({ ...event, deviceName: nameOf(event.userAgent) })), next };
    },
  }),
];
