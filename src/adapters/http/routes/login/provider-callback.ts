import type { Context } from 'koa';
import * as v from 'valibot';
import {
  finishAtProvider,
  openSignInStarts,
  providerOf,
  type SignInStart,
  unprovenIdentity,
} from '../../../../application/identities/at-provider.ts';
import { unlinkedIdentity } from '../../../../application/linked-identities.ts';
import type { Service } from '../../../../application/service.ts';
import { makeBindingCode } from '../../../../application/sessions/prove-device.ts';
import type { AppError } from '../../../../domain/errors/app-error.ts';
import { readForm } from '../../forms/form-validation.ts';
import { locations, MARKS, withParameter } from '../../forms/locations.ts';
import { shownError } from '../../forms/page-state.ts';
import type { HttpDeps } from '../../http-deps.ts';
import { type DeviceAccess, loginSourceOf, PROOF_ERRORS } from '../../request/client.ts';
import { KEPT_IDENTITY_STATE } from '../../request/cookies.ts';
import { type Route, route } from '../../routing/define-route.ts';
import { sendSession } from './login.ts';
import { type AtProviderSettings, ProviderParams } from './start-at-provider.ts';

export type CallbackSettings = AtProviderSettings & {
  readonly answerOnce: HttpDeps['answerOnce'];
  readonly isLoggedIn: (ctx: Context) => Promise<boolean>;
  /** Whether the refresh cookie is `Strict`. Browsers do not send such a cookie after a redirect from another site. */
  readonly hasStrictCookies: boolean;
};

export const providerCallbackRoutes = (
  deps: Service,
  deviceAccess: DeviceAccess,
  settings: CallbackSettings,
): Route[] => {
  const isPosted = [...deps.providers.values()].some(({ callback }) => callback.isPosted);
  return [providerCallback(deps, deviceAccess, settings), ...(isPosted ? [postedCallback(deps)] : [])];
};

const providerCallback = (deps: Service, deviceAccess: DeviceAccess, settings: CallbackSettings): Route => {
  const finish = finishAtProvider(deps);
  const { afterSuccess, afterError, afterExpiry } = redirectUrls(settings);
  return route({
    name: 'provider-callback',
    tag: 'tokens',
    summary: 'For browsers that come from a provider: log in or link, and go on to a page',
    description:
      'Register this URL at the provider. It goes on to `to` with `tandem=logged-in`, or to `errorTo` with `error`. After `AUTH_IDENTITY_CONFLICT`, a log-in in another way may link the provider for ten minutes.',
    at: 'GET /auth/oidc/:provider/callback',
    cookie: { reads: 'optional', writes: 'may-set' },
    auth: 'public',
    throttle: 'strict',
    request: { params: ProviderParams, query: v.unknown() },
    response: { redirects: true },
    errorPages: true,
    errors: [
      ...(['AUTH_IDENTITY_UNPROVEN', 'AUTH_IDENTITY_CONFLICT', 'SYS_PROVIDER_UNAVAILABLE'] as const),
      ...(['AUTH_ACCOUNT_DISABLED', 'AUTH_EMAIL_UNVERIFIED', 'AUTH_SECOND_FACTOR_REQUIRED'] as const),
      ...(['AUTH_REGISTRATION_CLOSED', 'AUTH_REGISTRATION_REFUSED', 'SYS_HOOK_UNAVAILABLE'] as const),
      ...(['AUTH_STEP_UP_REQUIRED', 'AUTH_TOKEN_INVALID', 'DB_RECORD_NOT_FOUND'] as const),
      ...(['DB_UNIQUE_VIOLATION', 'DB_QUERY_FAILED'] as const),
      ...PROOF_ERRORS,
    ],
    errorLocation: async (ctx, error) =>
      ctx.state.start === undefined ? null : afterError(ctx, ctx.state.start, error),
    handler: async ({ params: { provider }, signal }, ctx) => {
      const answer = new URLSearchParams(ctx.querystring);
      const state = answer.get('state') ?? '';
      const start = openSignInStarts(deps, settings.starts.pop(ctx, state)).find(
        (each) => each.secrets.state === state && each.provider === provider,
      );
      if (start === undefined) {
        const location = (await settings.isLoggedIn(ctx)) ? afterExpiry(ctx) : null;
        if (location === null) throw unprovenIdentity('the browser has begun no such sign-in, or it has expired');
        ctx.state.location = location;
        return;
      }
      ctx.state.start = start;
      // No fields: the cookie of the log-in has a random number, which tells one attempt from another.
      ctx.state.location = await settings.answerOnce(ctx, [], async () => {
        // Although the request comes from another site, it may use the cookies, since this browser has begun the log-in.
        const device = {
          ...loginSourceOf(ctx, deviceAccess, undefined),
          refreshTokens: deviceAccess.cookie.read(ctx),
          rememberedDevices: deviceAccess.rememberedDevice.read(ctx),
          ...(start.locale !== undefined && { locales: [start.locale] }),
        };
        const outcome = await finish(start, answer.toString(), device, signal);
        if (outcome !== null && 'kept' in outcome) {
          settings.starts.add(ctx, KEPT_IDENTITY_STATE, outcome.kept);
          throw unlinkedIdentity();
        }
        const opened = outcome && (await sendSession(ctx, deviceAccess, outcome));
        const code = opened && makeBindingCode(deps, { id: opened.sessionId, userId: opened.user.id });
        return afterSuccess(start, code);
      });
    },
  });
};

const redirectUrls = (settings: CallbackSettings) => {
  const { states, hasStrictCookies: isStrict } = settings;
  const urls = locations(settings);
  /** With `Strict` cookies, leads to a page of the service by the page `provider`, after which the browser sends the cookies. */
  const viaOwnPage = (location: string): string =>
    isStrict && states !== null && location.startsWith('/')
      ? `${urls.pathOf('provider')}?${new URLSearchParams({ next: location })}`
      : location;
  /** The URL that an error leads to: a page of the service shows the error, an application gets the error code as a parameter. */
  const errorUrl = (ctx: Context, { to, errorTo, caller }: SignInStart, error: AppError): string => {
    const returnUrl =
      errorTo ?? (states === null ? to : undefined) ?? urls.pathOf(caller === undefined ? 'log-in' : 'account');
    const page = urls.pageAt(returnUrl.replace(/\?.*/s, ''));
    if (page === undefined) return withParameter(returnUrl, 'error', error.code);
    // This is no failure: the log-in continues with the second factor.
    if (error.code === 'AUTH_SECOND_FACTOR_REQUIRED') return urls.hrefOf('second-factor', to);
    states?.set(ctx, { page, form: '', error: { ...shownError(error), fields: [] } });
    return urls.hrefOf(page, to === returnUrl ? undefined : to);
  };
  return {
    /** @param code a binding code of the new session; `null`: no session was opened */
    afterSuccess: ({ to }: SignInStart, code: string | null): string =>
      viaOwnPage(code === null ? urls.locationOf('target', to) : urls.locationOf('target', to, MARKS.loggedIn, code)),
    /** For a user who is logged in, and has gone back to the URL of the callback. The cookie with the target is no longer there. */
    afterExpiry: (ctx: Context): string | null => {
      states?.set(ctx, { page: 'account', form: '', notice: 'sign-in-over' });
      return states && viaOwnPage(urls.pathOf('account'));
    },
    afterError: (ctx: Context, start: SignInStart, error: AppError): string => viaOwnPage(errorUrl(ctx, start, error)),
  };
};

/** The parameters of a provider's response that the service needs. */
const ANSWER_PARAMETERS = ['state', 'code', 'iss', 'error'];

/** For providers that send the browser back by POST. Such a request of another site has no `Lax` cookies, so this redirects the browser to the GET. */
const postedCallback = (deps: Service): Route =>
  route({
    name: 'posted-provider-callback',
    tag: 'tokens',
    summary: 'For browsers that a provider sends back by POST: come again by GET',
    at: 'POST /auth/oidc/:provider/callback',
    auth: 'public',
    throttle: 'strict',
    request: { params: ProviderParams },
    response: { redirects: true },
    errorPages: true,
    errors: ['DB_RECORD_NOT_FOUND'],
    httpStatuses: [415],
    handler: async ({ params }, ctx) => {
      const { callback } = providerOf(deps, params.provider);
      const form = (await readForm(ctx)) ?? new Map<string, string>();
      const answer = new URLSearchParams([...form].filter(([name]) => ANSWER_PARAMETERS.includes(name)));
      ctx.state.location = `${callback.url}?${answer}`;
    },
  });
