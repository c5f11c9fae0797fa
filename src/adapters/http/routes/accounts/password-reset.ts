import * as v from 'valibot';
import {
  previewPasswordReset,
  requestPasswordReset,
  resetPassword,
} from '../../../../application/accounts/reset-password.ts';
import type { AccountsDeps } from '../../../../application/deps.ts';
import { originOf } from '../../request/client.ts';
import { acceptedLocales } from '../../request/language.ts';
import { type Route, route } from '../../routing/define-route.ts';
import { AddressBody, LinkBody, LinkToken, NewPassword } from '../../routing/fields.ts';

export const ConfirmPasswordResetBody = v.pipe(
  v.object({ token: LinkToken, newPassword: NewPassword }),
  v.examples([{ token: 'Yt2mJ8o1Jm3q4Wn0zQe7Rk5sXc9uVb6aLd1fGh2iKj4', newPassword: 'battery staple' }]),
);

/** For users who do not know their password any more (ADR 0010). */
export const passwordResetRoutes = (deps: AccountsDeps): Route[] => [
  // Without mail, an operator can still make a link.
  ...(deps.mailer === null ? [] : [requestRoute(requestPasswordReset(deps))]),
  previewRoute(previewPasswordReset(deps)),
  confirmRoute(resetPassword(deps)),
];

const requestRoute = (request: ReturnType<typeof requestPasswordReset>): Route =>
  route(
    {
      name: 'request-password-reset',
      tag: 'account',
      summary: 'Send a link to the address of an account, if there is one',
      method: 'POST',
      path: '/auth/password-reset',
      auth: 'public',
      throttle: 'strict',
      request: { body: AddressBody },
      response: { status: 202, data: v.null() },
      errors: ['DB_QUERY_FAILED'],
    },
    async ({ body }, ctx) => {
      await request(body.email, originOf(ctx));
      return null;
    },
  );

export const PasswordResetPreviewJson = v.pipe(
  v.object({ username: v.string() }),
  v.title('PasswordResetPreview'),
  v.examples([{ username: 'ada' }]),
);

const previewRoute = (preview: ReturnType<typeof previewPasswordReset>): Route =>
  route(
    {
      name: 'preview-password-reset',
      tag: 'account',
      summary: 'Return whose password a link sets, without using it up',
      method: 'POST',
      path: '/auth/password-reset/preview',
      auth: 'public',
      throttle: 'strict',
      request: { body: LinkBody },
      response: { data: PasswordResetPreviewJson },
      errors: ['AUTH_LINK_INVALID', 'DB_QUERY_FAILED'],
    },
    ({ body }) => preview(body.token),
  );

const confirmRoute = (reset: ReturnType<typeof resetPassword>): Route =>
  route(
    {
      name: 'confirm-password-reset',
      tag: 'account',
      summary: 'Set a new password with the link, and end all sessions',
      method: 'POST',
      path: '/auth/password-reset/confirm',
      auth: 'public',
      throttle: 'strict',
      request: { body: ConfirmPasswordResetBody },
      response: { data: v.null() },
      errors: ['AUTH_LINK_INVALID', 'DB_QUERY_FAILED'],
    },
    async ({ body, signal }, ctx) => {
      await reset({ ...body, locales: acceptedLocales(ctx), origin: originOf(ctx) }, signal);
      return null;
    },
  );
