import type { Context } from 'koa';
import * as v from 'valibot';
import { takeAccountBack } from '../../../../application/accounts/take-account-back.ts';
import {
  confirmEmail,
  removeUnverifiedAccount,
  requestEmailVerification,
} from '../../../../application/accounts/verify-email.ts';
import type { Service } from '../../../../application/service.ts';
import type { ErrorCode } from '../../../../domain/errors/catalog.ts';
import type { Origin } from '../../../../domain/event.ts';
import { AddressBody, LinkBody } from '../../../json/fields.ts';
import { originOf } from '../../request/client.ts';
import { isCrossSite, type SessionCookies } from '../../request/cookies.ts';
import { acceptedLocales } from '../../request/language.ts';
import { type Route, route } from '../../routing/define-route.ts';

type Head = Pick<Route, 'name' | 'summary' | 'path'>;

/** What the routes have in common for those who have a link from a mail, or ask for one: no session is needed. */
export const BY_MAIL = { tag: 'account', method: 'POST', auth: 'public', throttle: 'strict' } as const;

/** A route that sends a link to an address, if it has an account: its answer does not say whether. */
export const addressRoute = (head: Head, send: (email: string, origin: Origin) => Promise<unknown>): Route =>
  route(
    {
      ...BY_MAIL,
      ...head,
      request: { body: AddressBody },
      response: { status: 202, data: v.null() },
      errors: ['DB_QUERY_FAILED'],
    },
    async ({ body }, ctx) => {
      await send(body.email, originOf(ctx));
      return null;
    },
  );

type LinkRoute = Head & {
  readonly errors?: readonly ErrorCode[];
  readonly cookie?: Route['cookie'];
};

type UsedLink = { readonly token: string; readonly locales: readonly string[]; readonly origin: Origin };

/** A route that uses up a link from a mail. The token of the link is enough. */
const linkRoute = ({ errors = [], ...rest }: LinkRoute, use: (link: UsedLink, ctx: Context) => Promise<void>): Route =>
  route(
    {
      ...BY_MAIL,
      ...rest,
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
export const linkRoutes = (deps: Service, cookie: SessionCookies): Route[] => {
  const useCases = {
    requestEmailVerification: requestEmailVerification(deps),
    confirmEmail: confirmEmail(deps),
    removeUnverifiedAccount: removeUnverifiedAccount(deps),
    undoEmailChange: takeAccountBack(deps, 'email-change-undo'),
    undoFactors: takeAccountBack(deps, 'factors-undo'),
  };
  return [
    addressRoute(
      {
        name: 'request-email-verification',
        summary: 'Send another link that verifies an email address, if it has an account',
        path: '/auth/email-verification',
      },
      useCases.requestEmailVerification,
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
