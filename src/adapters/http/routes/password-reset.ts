import * as v from 'valibot';
import type { requestPasswordReset } from '../../../application/use-cases/request-password-reset.ts';
import type { resetPassword } from '../../../application/use-cases/reset-password.ts';
import { originOf } from '../request/device.ts';
import { type Route, route } from '../routing/define-route.ts';
import { ConfirmPasswordResetBody, PasswordResetBody } from '../routing/schemas.ts';

type RequestPasswordReset = ReturnType<typeof requestPasswordReset>;
type ResetPassword = ReturnType<typeof resetPassword>;

export type PasswordResetUseCases = {
  /** `null`: there is no mail. An operator can still make a link. */
  readonly requestPasswordReset: RequestPasswordReset | null;
  readonly resetPassword: ResetPassword;
};

/** For users who do not know their password any more (ADR 0048). */
export const passwordResetRoutes = ({ requestPasswordReset, resetPassword }: PasswordResetUseCases): Route[] => [
  ...(requestPasswordReset === null ? [] : [requestRoute(requestPasswordReset)]),
  confirmRoute(resetPassword),
];

const requestRoute = (requestPasswordReset: RequestPasswordReset): Route =>
  route(
    {
      name: 'request-password-reset',
      tag: 'account',
      summary: 'Send a link to the address of an account, if there is one',
      method: 'POST',
      path: '/auth/password-reset',
      auth: 'public',
      throttle: 'strict',
      request: { body: PasswordResetBody },
      response: { status: 202, data: v.null() },
      errors: ['DB_QUERY_FAILED'],
    },
    async ({ body }, ctx) => {
      await requestPasswordReset(body.email, originOf(ctx));
      return null;
    },
  );

const confirmRoute = (resetPassword: ResetPassword): Route =>
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
      await resetPassword({ ...body, origin: originOf(ctx) }, signal);
      return null;
    },
  );
