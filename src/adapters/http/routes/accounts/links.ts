import type { Context } from 'koa';
import * as v from 'valibot';
import {
  confirmEmail,
  previewPasswordReset,
  removeUnverifiedAccount,
  requestEmailVerification,
  requestPasswordReset,
  resetPassword,
  takeAccountBack,
} from '../../../../application/accounts/mail-links.ts';
import type { Service } from '../../../../application/service.ts';
import type { ErrorCode } from '../../../../domain/errors/catalog.ts';
import type { Origin } from '../../../../domain/event.ts';
import { PAGE_PURPOSES } from '../../../../domain/link.ts';
import type { PasswordLimits } from '../../../../domain/password.ts';
import { AddressBody, LinkBody, LinkToken, newPassword } from '../../../json/fields.ts';
import { acceptedLocales, originOf } from '../../request/client.ts';
import type { SessionCookies } from '../../request/cookies.ts';
import { type Route, type RouteHead, redirectRoute, route } from '../../routing/define-route.ts';

type Head = Pick<RouteHead, 'name' | 'summary' | 'at'>;

/** What the routes have in common for those who have a link from a mail, or ask for one: no session is needed. */
export const BY_MAIL = { tag: 'account', auth: 'public', throttle: 'strict' } as const;

/** A route that sends a link to an address, if it has an account: its answer does not say whether. */
const addressRoute = (head: Head, send: (email: string, origin: Origin) => Promise<unknown>): Route =>
  route({
    ...BY_MAIL,
    ...head,
    request: { body: AddressBody },
    response: { status: 202 },
    errors: ['DB_QUERY_FAILED'],
    handler: ({ body }, ctx) => send(body.email, originOf(ctx)),
  });

type LinkRoute = Head & {
  readonly errors?: readonly ErrorCode[];
  readonly cookie?: Route['cookie'];
};

type UsedLink = { readonly token: string; readonly locales: readonly string[]; readonly origin: Origin };

/** A route that uses up a link from a mail. The token of the link is enough. */
const linkRoute = ({ errors = [], ...rest }: LinkRoute, use: (link: UsedLink, ctx: Context) => Promise<void>): Route =>
  route({
    ...BY_MAIL,
    ...rest,
    request: { body: LinkBody },
    errors: ['AUTH_LINK_INVALID', ...errors, 'DB_QUERY_FAILED'],
    handler: ({ body }, ctx) => use({ token: body.token, locales: acceptedLocales(ctx), origin: originOf(ctx) }, ctx),
  });

export const previewRoute = <Data extends v.GenericSchema>(
  head: Head,
  data: Data,
  preview: (token: string) => Promise<v.InferInput<Data>>,
): Route =>
  route({
    ...BY_MAIL,
    ...head,
    request: { body: LinkBody },
    response: { data },
    errors: ['AUTH_LINK_INVALID', 'DB_QUERY_FAILED'],
    handler: ({ body }) => preview(body.token),
  });

/** Verifying email addresses, and undoing changes of an account. They need mail. ADR 0010. */
export const linkRoutes = (deps: Service, cookie: SessionCookies): Route[] => [
  addressRoute(
    {
      name: 'request-email-verification',
      summary: 'Send another link that verifies an email address, if it has an account',
      at: 'POST /auth/email-verification',
    },
    requestEmailVerification(deps),
  ),
  linkRoute(
    {
      name: 'confirm-email',
      summary: 'Verify an email address with the link that was sent to it',
      at: 'POST /auth/email-verification/confirm',
      cookie: { reads: 'optional' },
    },
    (link, ctx) => confirmEmail(deps)({ ...link, refreshTokens: cookie.readOwn(ctx) }),
  ),
  linkRoute(
    {
      name: 'remove-unverified-account',
      summary: 'Remove the account that somebody else registered with an email address',
      at: 'POST /auth/email-verification/not-me',
    },
    ({ token, origin }) => removeUnverifiedAccount(deps)(token, origin),
  ),
  linkRoute(
    {
      name: 'undo-email-change',
      summary: 'Take the email address back with the link that was sent to the former one',
      at: 'POST /auth/email-change/undo',
      errors: ['AUTH_USER_DUPLICATE'],
    },
    takeAccountBack(deps, 'email-change-undo'),
  ),
  linkRoute(
    {
      name: 'undo-factors',
      summary: 'Remove the factors that were added since the change that a mail has reported, and end all sessions',
      at: 'POST /auth/factors/undo',
      errors: ['AUTH_USER_DUPLICATE'],
    },
    takeAccountBack(deps, 'factors-undo'),
  ),
];

export const confirmPasswordResetBody = (limits: PasswordLimits) =>
  v.object({ token: LinkToken, newPassword: newPassword(limits) });

export const PasswordResetPreviewJson = v.pipe(v.object({ username: v.string() }), v.title('PasswordResetPreview'));

/** For users who do not know their password any more (ADR 0010). Without mail, an operator can still make a link. */
export const passwordResetRoutes = (deps: Service, cookie: SessionCookies): Route[] => [
  ...(deps.mailer === null
    ? []
    : [
        addressRoute(
          {
            name: 'request-password-reset',
            summary: 'Send a link to the address of an account, if there is one',
            at: 'POST /auth/password-reset',
          },
          requestPasswordReset(deps),
        ),
      ]),
  previewRoute(
    {
      name: 'preview-password-reset',
      summary: 'Return whose password a link sets, without using it up',
      at: 'POST /auth/password-reset/preview',
    },
    PasswordResetPreviewJson,
    previewPasswordReset(deps),
  ),
  route({
    ...BY_MAIL,
    name: 'confirm-password-reset',
    summary: 'Set a new password with the link, and end all sessions',
    at: 'POST /auth/password-reset/confirm',
    cookie: { reads: 'optional' },
    request: { body: confirmPasswordResetBody(deps.passwordLimits) },
    errors: ['AUTH_LINK_INVALID', 'DB_QUERY_FAILED'],
    handler: ({ body, signal }, ctx) => {
      const from = { refreshTokens: cookie.readOwn(ctx), locales: acceptedLocales(ctx), origin: originOf(ctx) };
      return resetPassword(deps)({ ...body, ...from }, signal);
    },
  }),
];

/** Where the links in mails of version 1.0 lead: some of them are valid for days after an update. Browsers keep the fragment. */
export const formerLinkRoutes = (pagesUrl: string): Route[] =>
  PAGE_PURPOSES.map((purpose) => ({
    ...redirectRoute(
      {
        name: `former-${purpose}-page`,
        tag: 'pages',
        summary: 'Lead to the page of a link in a mail',
        at: `GET /account/${purpose}`,
      },
      `${pagesUrl}/${purpose}`,
    ),
    visitor: true,
  }));
