import * as v from 'valibot';
import {
  confirmEmailChange,
  previewEmailChange,
  requestEmailChange,
} from '../../../../application/accounts/change-email.ts';
import type { Service } from '../../../../application/service.ts';
import { CurrentPassword, Email, LinkToken, RefreshResult, Timestamp } from '../../../json/fields.ts';
import { clientContext, clientNetworks, originOf } from '../../request/client.ts';
import type { SessionCookies } from '../../request/cookies.ts';
import { type Route, route } from '../../routing/define-route.ts';
import { ACCOUNT, CONFIRMATION, confirmationErrors } from './account.ts';
import { BY_MAIL, WITH_LINK } from './links.ts';

const ChangeEmailBody = v.object({ email: Email, password: CurrentPassword });

/** The body with PASSWORDS=optional. */
export const ShortChangeEmailBody = v.pipe(
  v.object({ email: Email, ...CONFIRMATION }),
  v.examples([{ email: 'ada@example.net', code: '48151623' }]),
);

export const ConfirmEmailChangeBody = v.object({ token: LinkToken, password: v.optional(CurrentPassword) });

export const EmailChangePreviewJson = v.pipe(
  v.object({ username: v.string(), createdAt: Timestamp, undoUntil: v.nullable(Timestamp) }),
  v.title('EmailChangePreview'),
);

/** They need mail. ADR 0010. */
export const emailChangeRoutes = (deps: Service, cookie: SessionCookies): Route[] => [
  route({
    ...ACCOUNT,
    name: 'change-email',
    summary: 'Send a link that changes the email address to the new one',
    description:
      'The address changes when the link is used. The answer is the same if it has an account. With PASSWORDS=optional, `code` may stand for the password.',
    at: 'PUT /users/me/email',
    stepUp: { assurance: 'aal2-if-enrolled' },
    request: { body: deps.passwords === 'optional' ? ShortChangeEmailBody : ChangeEmailBody },
    response: { status: 202 },
    errors: [
      ...(['AUTH_CREDENTIALS_INVALID', 'AUTH_REGISTRATION_REFUSED', 'SYS_HOOK_UNAVAILABLE'] as const),
      ...confirmationErrors(deps),
    ],
    handler: ({ claims, caller, body, signal }, ctx) => {
      const change = { ...body, ...caller, tokenIssuedAt: claims.iat, origin: originOf(ctx) };
      return requestEmailChange(deps)(change, signal);
    },
  }),
  route({
    ...WITH_LINK,
    name: 'preview-email-change',
    summary: 'Return whose email address a link changes, without using it up',
    at: 'POST /auth/email-change/preview',
    response: { data: EmailChangePreviewJson },
    handler: ({ body }) => previewEmailChange(deps)(body.token),
  }),
  route({
    ...BY_MAIL,
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
      const from = { ...clientContext(ctx), networks: clientNetworks(ctx) };
      const pair = await confirmEmailChange(deps)({ ...body, ...from, session }, signal);
      return pair && cookie.set(ctx, pair);
    },
  }),
];
