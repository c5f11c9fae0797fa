import * as v from 'valibot';
import {
  previewPasswordReset,
  requestPasswordReset,
  resetPassword,
} from '../../../../application/accounts/reset-password.ts';
import type { Service } from '../../../../application/service.ts';
import { LinkBody, LinkToken, NewPassword } from '../../../json/fields.ts';
import { originOf } from '../../request/client.ts';
import { isCrossSite, type SessionCookies } from '../../request/cookies.ts';
import { acceptedLocales } from '../../request/language.ts';
import { type Route, route } from '../../routing/define-route.ts';
import { addressRoute, BY_MAIL } from './links.ts';

export const ConfirmPasswordResetBody = v.pipe(
  v.object({ token: LinkToken, newPassword: NewPassword }),
  v.examples([{ token: 'Yt2mJ8o1Jm3q4Wn0zQe7Rk5sXc9uVb6aLd1fGh2iKj4', newPassword: 'battery staple' }]),
);

/** For users who do not know their password any more (ADR 0010). */
export const passwordResetRoutes = (deps: Service, cookie: SessionCookies): Route[] => [
  // Without mail, an operator can still make a link.
  ...(deps.mailer === null ? [] : [requestRoute(requestPasswordReset(deps))]),
  previewRoute(previewPasswordReset(deps)),
  confirmRoute(resetPassword(deps), cookie),
];

const requestRoute = (request: ReturnType<typeof requestPasswordReset>): Route =>
  addressRoute(
    {
      name: 'request-password-reset',
      summary: 'Send a link to the address of an account, if there is one',
      path: '/auth/password-reset',
    },
    request,
  );

export const PasswordResetPreviewJson = v.pipe(
  v.object({ username: v.string() }),
  v.title('PasswordResetPreview'),
  v.examples([{ username: 'ada' }]),
);

const previewRoute = (preview: ReturnType<typeof previewPasswordReset>): Route =>
  route(
    {
      ...BY_MAIL,
      name: 'preview-password-reset',
      summary: 'Return whose password a link sets, without using it up',
      path: '/auth/password-reset/preview',
      request: { body: LinkBody },
      response: { data: PasswordResetPreviewJson },
      errors: ['AUTH_LINK_INVALID', 'DB_QUERY_FAILED'],
    },
    ({ body }) => preview(body.token),
  );

const confirmRoute = (reset: ReturnType<typeof resetPassword>, cookie: SessionCookies): Route =>
  route(
    {
      ...BY_MAIL,
      name: 'confirm-password-reset',
      summary: 'Set a new password with the link, and end all sessions',
      path: '/auth/password-reset/confirm',
      cookie: { reads: 'optional' },
      request: { body: ConfirmPasswordResetBody },
      response: { data: v.null() },
      errors: ['AUTH_LINK_INVALID', 'DB_QUERY_FAILED'],
    },
    async ({ body, signal }, ctx) => {
      const refreshTokens = isCrossSite(ctx) ? [] : cookie.read(ctx);
      await reset({ ...body, refreshTokens, locales: acceptedLocales(ctx), origin: originOf(ctx) }, signal);
      return null;
    },
  );
