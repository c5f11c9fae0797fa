import type { Context } from 'koa';
import * as v from 'valibot';
import {
  confirmEmailChange,
  previewEmailChange,
  requestEmailChange,
} from '../../../../application/accounts/change-email.ts';
import { takeAccountBack } from '../../../../application/accounts/take-account-back.ts';
import {
  confirmEmail,
  removeUnverifiedAccount,
  requestEmailVerification,
} from '../../../../application/accounts/verify-email.ts';
import type { AccountsDeps } from '../../../../application/deps.ts';
import type { ErrorCode } from '../../../../domain/errors/catalog.ts';
import type { Origin } from '../../../../domain/event.ts';
import { Timestamp } from '../../../json/public-user.ts';
import { clientNetworks, originOf } from '../../request/client.ts';
import { isCrossSite, type SessionCookies } from '../../request/cookies.ts';
import { acceptedLocales } from '../../request/language.ts';
import { type Route, route } from '../../routing/define-route.ts';
import { AddressBody, ChangeEmailBody, ConfirmEmailChangeBody, LinkBody } from '../../routing/schemas.ts';
import { RefreshResult } from '../login/auth.ts';

export const EmailChangePreviewJson = v.pipe(
  v.object({ username: v.string(), createdAt: Timestamp, undoUntil: v.nullable(Timestamp) }),
  v.title('EmailChangePreview'),
  v.examples([{ username: 'ada', createdAt: '2026-11-21T23:03:48.228Z', undoUntil: '2026-11-29T08:15:00.000Z' }]),
);

type LinkRoute = {
  readonly name: string;
  readonly summary: string;
  readonly path: `/${string}`;
  readonly errors?: readonly ErrorCode[];
  readonly cookie?: Route['cookie'];
};

type UsedLink = { readonly token: string; readonly locales: readonly string[]; readonly origin: Origin };

/** A route that uses up a link from a mail. The token of the link is enough: no session is needed. */
const linkRoute = ({ errors = [], ...rest }: LinkRoute, use: (link: UsedLink, ctx: Context) => Promise<void>): Route =>
  route(
    {
      ...rest,
      tag: 'account',
      method: 'POST',
      auth: 'public',
      throttle: 'strict',
      request: { body: LinkBody },
      response: { data: v.null() },
      errors: ['AUTH_LINK_INVALID', ...errors, 'DB_QUERY_FAILED'],
    },
    async ({ body }, ctx) => {
      await use({ token: body.token, locales: acceptedLocales(ctx), origin: originOf(ctx) }, ctx);
      return null;
    },
  );

/** Verifying and changing email addresses. They need mail. ADR 0010. */
export const emailRoutes = (deps: AccountsDeps, cookie: SessionCookies): Route[] => {
  const useCases = {
    requestEmailVerification: requestEmailVerification(deps),
    confirmEmail: confirmEmail(deps),
    removeUnverifiedAccount: removeUnverifiedAccount(deps),
    requestEmailChange: requestEmailChange(deps),
    previewEmailChange: previewEmailChange(deps),
    confirmEmailChange: confirmEmailChange(deps),
    undoEmailChange: takeAccountBack(deps, 'email-change-undo'),
    undoFactors: takeAccountBack(deps, 'factors-undo'),
  };
  return [
    route(
      {
        name: 'request-email-verification',
        tag: 'account',
        summary: 'Send another link that verifies an email address, if it has an account',
        method: 'POST',
        path: '/auth/email-verification',
        auth: 'public',
        throttle: 'strict',
        request: { body: AddressBody },
        response: { status: 202, data: v.null() },
        errors: ['DB_QUERY_FAILED'],
      },
      async ({ body }, ctx) => {
        await useCases.requestEmailVerification(body.email, originOf(ctx));
        return null;
      },
    ),
    linkRoute(
      {
        name: 'confirm-email',
        summary: 'Verify an email address with the link that was sent to it',
        path: '/auth/email-verification/confirm',
        cookie: { reads: 'optional' },
      },
      (link, ctx) => useCases.confirmEmail({ ...link, refreshTokens: isCrossSite(ctx) ? [] : cookie.read(ctx) }),
    ),
    linkRoute(
      {
        name: 'remove-unverified-account',
        summary: 'Remove the account that somebody else registered with an email address',
        path: '/auth/email-verification/not-me',
      },
      ({ token, origin }) => useCases.removeUnverifiedAccount(token, origin),
    ),
    route(
      {
        name: 'change-email',
        tag: 'account',
        summary: 'Send a link that changes the email address to the new one',
        method: 'PUT',
        path: '/users/me/email',
        throttle: 'strict',
        stepUp: { assurance: 'aal2-if-enrolled' },
        request: { body: ChangeEmailBody },
        response: { status: 202, data: v.null() },
        errors: ['AUTH_CREDENTIALS_INVALID'],
      },
      async ({ claims, caller, body, signal }, ctx) => {
        const change = { ...body, ...caller, tokenIssuedAt: claims.iat, origin: originOf(ctx) };
        await useCases.requestEmailChange(change, signal);
        return null;
      },
    ),
    route(
      {
        name: 'preview-email-change',
        tag: 'account',
        summary: 'Return whose email address a link changes, without using it up',
        method: 'POST',
        path: '/auth/email-change/preview',
        auth: 'public',
        throttle: 'strict',
        request: { body: LinkBody },
        response: { data: EmailChangePreviewJson },
        errors: ['AUTH_LINK_INVALID', 'DB_QUERY_FAILED'],
      },
      ({ body }) => useCases.previewEmailChange(body.token),
    ),
    route(
      {
        name: 'confirm-email-change',
        tag: 'account',
        summary: 'Change the email address with the link that was sent to the new one, and a session or the password',
        method: 'POST',
        path: '/auth/email-change/confirm',
        auth: 'optional',
        throttle: 'strict',
        cookie: { writes: 'may-set' },
        request: { body: ConfirmEmailChangeBody },
        response: { data: v.nullable(RefreshResult) },
        errors: [
          'AUTH_LINK_INVALID',
          'AUTH_CREDENTIALS_INVALID',
          'AUTH_TOKEN_INVALID',
          'AUTH_STEP_UP_REQUIRED',
          'AUTH_USER_DUPLICATE',
          'DB_QUERY_FAILED',
        ],
      },
      async ({ caller, body, signal }, ctx) => {
        const session = caller && { id: caller.sessionId, userId: caller.userId };
        const from = { networks: clientNetworks(ctx), locales: acceptedLocales(ctx), origin: originOf(ctx) };
        const confirmation = { ...body, ...from, session };
        const pair = await useCases.confirmEmailChange(confirmation, signal);
        if (pair === null) return null;
        cookie.set(ctx, pair);
        return { accessToken: pair.accessToken };
      },
    ),
    linkRoute(
      {
        name: 'undo-email-change',
        summary: 'Take the email address back with the link that was sent to the former one',
        path: '/auth/email-change/undo',
        errors: ['AUTH_USER_DUPLICATE'],
      },
      useCases.undoEmailChange,
    ),
    linkRoute(
      {
        name: 'undo-factors',
        summary: 'Remove the factors that were added since the change that a mail has reported, and end all sessions',
        path: '/auth/factors/undo',
        errors: ['AUTH_USER_DUPLICATE'],
      },
      useCases.undoFactors,
    ),
  ];
};
