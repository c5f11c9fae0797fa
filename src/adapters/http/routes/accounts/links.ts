import type { Context } from 'koa';
import * as v from 'valibot';
import { takeAccountBack } from '../../../../application/accounts/take-account-back.ts';
import {
  confirmEmail,
  removeUnverifiedAccount,
  requestEmailVerification,
} from '../../../../application/accounts/verify-email.ts';
import type { AccountsDeps } from '../../../../application/deps.ts';
import type { ErrorCode } from '../../../../domain/errors/catalog.ts';
import type { Origin } from '../../../../domain/event.ts';
import { originOf } from '../../request/client.ts';
import { isCrossSite, type SessionCookies } from '../../request/cookies.ts';
import { acceptedLocales } from '../../request/language.ts';
import { type Route, route } from '../../routing/define-route.ts';
import { AddressBody, LinkBody } from '../../routing/fields.ts';

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

/** Verifying email addresses, and undoing changes of an account. They need mail. ADR 0010. */
export const linkRoutes = (deps: AccountsDeps, cookie: SessionCookies): Route[] => {
  const useCases = {
    requestEmailVerification: requestEmailVerification(deps),
    confirmEmail: confirmEmail(deps),
    removeUnverifiedAccount: removeUnverifiedAccount(deps),
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
