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
import { KEPT_STATE } from '../../request/cookies.ts';
import { type Route, route } from '../../routing/define-route.ts';
import { sendSession } from './login.ts';
import { type AtProviderSettings, ProviderParams } from './start-at-provider.ts';

export type CallbackSettings = AtProviderSettings & {
  readonly answerOnce: HttpDeps['answerOnce'];
  readonly isLoggedIn: (ctx: Context) => Promise<boolean>;
  /** Whether cookies are `Strict`. Browsers do not send these after a redirect from a provider. */
  readonly isStrict: boolean;
};

export const providerCallbackRoutes = (deps: Service, access: DeviceAccess, settings: CallbackSettings): Route[] => {
  const isPosted = [...deps.providers.values()].some(({ callback }) => callback.isPosted);
  return [providerCallback(deps, access, settings), ...(isPosted ? [postedCallback(deps)] : [])];
};

const providerCallback = (deps: Service, access: DeviceAccess, settings: CallbackSettings): Route => {
  const finish = finishAtProvider(deps);
  const { afterSuccess, afterError, afterExpiry } = redirectsOf(settings);
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
    failed: async (ctx, error) => (ctx.state.start === undefined ? null : afterError(ctx, ctx.state.start, error)),
    handler: async ({ params: { provider }, signal }, ctx) => {
      const answer = new URLSearchParams(ctx.querystring);
      const state = answer.get('state') ?? '';
      const own = openSignInStarts(deps, settings.starts.take(ctx, state)).find(
        (each) => each.secrets.state === state && each.provider === provider,
      );
      if (own === undefined) {
        const location = (await settings.isLoggedIn(ctx)) ? afterExpiry(ctx) : null;
        if (location === null) throw unprovenIdentity('the browser has begun no such sign-in, or it has expired');
        ctx.state.location = location;
        return;
      }
      ctx.state.start = own;
      // No fields: the cookie with the sealed start is random, and so tells requests apart.
      ctx.state.location = await settings.answerOnce(ctx, [], async () => {
        // The request comes from another site, but this browser has begun the log-in, so its cookies count.
        const device = {
          ...loginSourceOf(ctx, access, undefined),
          refreshTokens: access.cookie.read(ctx),
          rememberedDevices: access.rememberedDevice.read(ctx),
          ...(own.locale !== undefined && { locales: [own.locale] }),
        };
        const finished = await finish(own, answer.toString(), device, signal);
        if (finished !== null && 'kept' in finished) {
          settings.starts.add(ctx, KEPT_STATE, finished.kept);
          throw unlinkedIdentity();
        }
        const opened = finished && (await sendSession(ctx, access, finished));
        const code = opened && makeBindingCode(deps, { id: opened.sessionId, userId: opened.user.id });
        return afterSuccess(own, code);
      });
    },
  });
};

const redirectsOf = (settings: CallbackSettings) => {
  const { states, isStrict } = settings;
  const at = locations(settings);
  /** Leads to a page of the service by the page `provider`, so that the browser sends a `Strict` cookie. */
  const byOwnPage = (location: string): string =>
    isStrict && states !== null && location.startsWith('/')
      ? `${at.pathOf('provider')}?${new URLSearchParams({ next: location })}`
      : location;
  /** A page of the service shows the error. An application gets its code in the address. */
  const errorLocation = (ctx: Context, { to, errorTo, caller }: SignInStart, error: AppError): string => {
    const place =
      errorTo ?? (states === null ? to : undefined) ?? at.pathOf(caller === undefined ? 'log-in' : 'account');
    const page = at.pageAt(place.replace(/\?.*/s, ''));
    if (page === undefined) return withParameter(place, 'error', error.code);
    // The log-in has not failed, but goes on there.
    if (error.code === 'AUTH_SECOND_FACTOR_REQUIRED') return at.hrefOf('second-factor', to);
    states?.set(ctx, { page, form: '', error: { ...shownError(error), fields: [] } });
    return at.hrefOf(page, to === place ? undefined : to);
  };
  return {
    /** @param code binds the session that was opened; `null`: none was */
    afterSuccess: ({ to }: SignInStart, code: string | null): string =>
      byOwnPage(code === null ? at.locationOf('target', to) : at.locationOf('target', to, MARKS.loggedIn, code)),
    /** For a user who is logged in, and has gone back to the callback. The start, which had the target, was removed. */
    afterExpiry: (ctx: Context): string | null => {
      states?.set(ctx, { page: 'account', form: '', notice: 'sign-in-over' });
      return states && byOwnPage(at.pathOf('account'));
    },
    afterError: (ctx: Context, start: SignInStart, error: AppError): string =>
      byOwnPage(errorLocation(ctx, start, error)),
  };
};

/** The parameters of a provider's answer. */
const ANSWERS = ['state', 'code', 'iss', 'error'];

/** For providers that post: the request is from another site, so it has no `Lax` cookie. It redirects the browser, which comes again by GET. */
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
      const answer = new URLSearchParams([...form].filter(([name]) => ANSWERS.includes(name)));
      ctx.state.location = `${callback.url}?${answer}`;
    },
  });
