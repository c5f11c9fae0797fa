import * as v from 'valibot';
import {
  confirmEmailChange,
  previewEmailChange,
  requestEmailChange,
} from '../../../../application/accounts/change-email.ts';
import * as links from '../../../../application/accounts/mail-links.ts';
import type { Service } from '../../../../application/service.ts';
import { WITH_PASSWORD } from '../../../../domain/assurance.ts';
import { PAGE_PURPOSES } from '../../../../domain/link.ts';
import type { PasswordLimits } from '../../../../domain/password.ts';
import {
  AddressBody,
  CurrentPassword,
  Email,
  LinkBody,
  LinkToken,
  newPassword,
  RefreshResult,
  Timestamp,
} from '../../../json/fields.ts';
import { clientContext, clientNetworks, eventOriginOf } from '../../request/client.ts';
import type { SessionCookies } from '../../request/cookies.ts';
import { type Route, redirectRoute, route } from '../../routing/define-route.ts';
import { ACCOUNT_ROUTE, CONFIRMATION_MEMBERS, confirmationErrors } from './account.ts';

const MAIL_ROUTE = { tag: 'account', auth: 'public', throttle: 'strict' } as const;

/** For routes that send a link to the address of an account. The response does not tell whether the address has an account. */
const LINK_REQUEST_ROUTE = {
  ...MAIL_ROUTE,
  ...{ request: { body: AddressBody }, response: { status: 202 }, errors: ['DB_QUERY_FAILED'] as const },
};

/** For routes that the token of a link authorizes. */
const LINK_ROUTE = {
  ...MAIL_ROUTE,
  ...{ request: { body: LinkBody }, errors: ['AUTH_LINK_INVALID', 'DB_QUERY_FAILED'] as const },
};

/** Routes that verify email addresses and undo changes of an account. A service without mail does not have them (ADR 0010). */
export const linkRoutes = (deps: Service, cookie: SessionCookies): Route[] => [
  route({
    ...LINK_REQUEST_ROUTE,
    name: 'request-email-verification',
    summary: 'Send another link that verifies an email address, if it has an account',
    description: 'The same answer for every address. A mail is sent only to one that is not verified.',
    at: 'POST /auth/email-verification',
    handler: ({ body }, ctx) => links.requestEmailVerification(deps)(body.email, eventOriginOf(ctx)),
  }),
  route({
    ...LINK_ROUTE,
    name: 'confirm-email',
    summary: 'Verify an email address with the link that was sent to it',
    description:
      'It opens no session. What was added to the account before goes, but for the password, unless the request has the refresh cookie of the user.',
    at: 'POST /auth/email-verification/confirm',
    cookie: { reads: 'optional' },
    handler: ({ body }, ctx) =>
      links.confirmEmail(deps)({ ...body, ...clientContext(ctx), refreshTokens: cookie.readOwn(ctx) }),
  }),
  route({
    ...LINK_ROUTE,
    name: 'remove-unverified-account',
    summary: 'Remove the account that somebody else registered with an email address',
    description: 'By the second link of the mail. An account whose address was verified stays.',
    at: 'POST /auth/email-verification/not-me',
    handler: ({ body }, ctx) => links.removeUnverifiedAccount(deps)(body.token, eventOriginOf(ctx)),
  }),
  route({
    ...LINK_ROUTE,
    name: 'undo-email-change',
    summary: 'Take the email address back with the link that was sent to the former one',
    description:
      'Within seven days. All sessions end, the password stops working, and the restored address gets a link for a new one. Factors that were added since the week before the change are removed.',
    at: 'POST /auth/email-change/undo',
    errors: [...LINK_ROUTE.errors, 'AUTH_USER_DUPLICATE'],
    handler: ({ body }, ctx) => links.takeAccountBack(deps, 'email-change-undo')({ ...body, ...clientContext(ctx) }),
  }),
  route({
    ...LINK_ROUTE,
    name: 'undo-factors',
    summary: 'Remove the factors that were added since the change that a mail has reported, and end all sessions',
    description:
      'Within seven days. All sessions end, and the password stops working: the address gets a link for a new one. Later changes are undone, too.',
    at: 'POST /auth/factors/undo',
    errors: [...LINK_ROUTE.errors, 'AUTH_USER_DUPLICATE'],
    handler: ({ body }, ctx) => links.takeAccountBack(deps, 'factors-undo')({ ...body, ...clientContext(ctx) }),
  }),
];

export const confirmPasswordResetBody = (limits: PasswordLimits) =>
  v.object({ token: LinkToken, newPassword: newPassword(limits) });

export const PasswordResetPreviewJson = v.pipe(v.object({ username: v.string() }), v.title('PasswordResetPreview'));

/** Routes that set a new password by a link (ADR 0010). In a service without mail, only operators make such links. */
export const passwordResetRoutes = (deps: Service, cookie: SessionCookies): Route[] => [
  ...(deps.mailer === null
    ? []
    : [
        route({
          ...LINK_REQUEST_ROUTE,
          name: 'request-password-reset',
          summary: 'Send a link to the address of an account, if there is one',
          description:
            'The same answer for every address. The link lives for 30 minutes; another one is sent after five minutes at the earliest.',
          at: 'POST /auth/password-reset',
          handler: ({ body }, ctx) => links.requestPasswordReset(deps)(body.email, eventOriginOf(ctx)),
        }),
      ]),
  route({
    ...LINK_ROUTE,
    name: 'preview-password-reset',
    summary: 'Return whose password a link sets, without using it up',
    at: 'POST /auth/password-reset/preview',
    response: { data: PasswordResetPreviewJson },
    handler: ({ body }) => links.previewPasswordReset(deps)(body.token),
  }),
  route({
    ...LINK_ROUTE,
    name: 'confirm-password-reset',
    summary: 'Set a new password with the link, and end all sessions',
    description:
      'It opens no session. A refused password does not use the link up. If nobody has proven the address before, what was added to the account goes, unless the request has the refresh cookie of the user.',
    at: 'POST /auth/password-reset/confirm',
    cookie: { reads: 'optional' },
    request: { body: confirmPasswordResetBody(deps.passwordLimits) },
    handler: ({ body, signal }, ctx) =>
      links.resetPassword(deps)({ ...body, ...clientContext(ctx), refreshTokens: cookie.readOwn(ctx) }, signal),
  }),
];

/** Redirects for links in mails of version 1.0, some of which are valid for days. Browsers keep the fragment, which has the token. */
export const formerLinkRoutes = (pagesUrl: string): Route[] =>
  PAGE_PURPOSES.map((purpose) => {
    const head = { name: `former-${purpose}-page`, tag: 'pages', at: `GET /account/${purpose}` } as const;
    const summary = 'Lead to the page of a link in a mail';
    return { ...redirectRoute({ ...head, summary }, `${pagesUrl}/${purpose}`), visitor: true };
  });

const ChangeEmailBody = v.object({ email: Email, password: CurrentPassword });

export const PasswordlessEmailChangeBody = v.pipe(
  v.object({ email: Email, ...CONFIRMATION_MEMBERS }),
  v.examples([{ email: 'ada@example.net', code: '48151623' }]),
);

export const ConfirmEmailChangeBody = v.object({ token: LinkToken, password: v.optional(CurrentPassword) });

export const EmailChangePreviewJson = v.pipe(
  v.object({ username: v.string(), createdAt: Timestamp, undoUntil: v.nullable(Timestamp) }),
  v.title('EmailChangePreview'),
);

/** Routes that change the email address by a link. A service without mail does not have them (ADR 0010). */
export const emailChangeRoutes = (deps: Service, cookie: SessionCookies): Route[] => [
  route({
    ...ACCOUNT_ROUTE,
    name: 'change-email',
    summary: 'Send a link that changes the email address to the new one',
    description:
      'The address changes when the link is used. The answer is the same if it has an account. With PASSWORDS=optional, `code` may stand for the password.',
    at: 'PUT /users/me/email',
    stepUp: WITH_PASSWORD,
    request: { body: deps.passwords === 'optional' ? PasswordlessEmailChangeBody : ChangeEmailBody },
    response: { status: 202 },
    errors: [
      ...(['AUTH_CREDENTIALS_INVALID', 'AUTH_REGISTRATION_REFUSED', 'SYS_HOOK_UNAVAILABLE'] as const),
      ...confirmationErrors(deps),
    ],
    handler: ({ claims, caller, body, signal }, ctx) => {
      const change = { ...body, ...caller, tokenIssuedAt: claims.iat, origin: eventOriginOf(ctx) };
      return requestEmailChange(deps)(change, signal);
    },
  }),
  route({
    ...LINK_ROUTE,
    name: 'preview-email-change',
    summary: 'Return whose email address a link changes, without using it up',
    at: 'POST /auth/email-change/preview',
    response: { data: EmailChangePreviewJson },
    handler: ({ body }) => previewEmailChange(deps)(body.token),
  }),
  route({
    ...MAIL_ROUTE,
    name: 'confirm-email-change',
    summary: 'Change the email address with the link that was sent to the new one, and a session or the password',
    description:
      'With an access token of the account, or its password: the link alone changes nothing, and stays valid when either is refused. With a token, the answer has another one, and sets the cookie. The former address can take the account back for seven days.',
    at: 'POST /auth/email-change/confirm',
    auth: 'optional',
    cookie: { writes: 'may-set' },
    request: { body: ConfirmEmailChangeBody },
    response: { data: v.nullable(RefreshResult) },
    errors: [
      ...(['AUTH_LINK_INVALID', 'AUTH_CREDENTIALS_INVALID', 'AUTH_TOKEN_INVALID', 'AUTH_STEP_UP_REQUIRED'] as const),
      ...(['AUTH_REGISTRATION_REFUSED', 'AUTH_USER_DUPLICATE', 'DB_QUERY_FAILED'] as const),
    ],
    handler: async ({ caller, body, signal }, ctx) => {
      const session = caller && { id: caller.sessionId, userId: caller.userId };
      const source = { ...clientContext(ctx), networks: clientNetworks(ctx) };
      const pair = await confirmEmailChange(deps)({ ...body, ...source, session }, signal);
      return pair && cookie.set(ctx, pair);
    },
  }),
];
