import type { Context } from 'koa';
import * as v from 'valibot';
import {
  type AtProviderDeps,
  finishAtProvider,
  openStarts,
  providerOf,
  type Start,
  startAtProvider,
  unprovenIdentity,
} from '../../../../application/identities/at-provider.ts';
import { FACTOR_CHANGE } from '../../../../domain/assurance.ts';
import type { AppError } from '../../../../domain/errors/app-error.ts';
import { PAGES } from '../../forms/flow.ts';
import { readForm } from '../../forms/form-validation.ts';
import { locations, MARKS, withParameter } from '../../forms/locations.ts';
import { type PageStates, shownError } from '../../forms/page-state.ts';
import type { TargetSettings } from '../../forms/targets.ts';
import { originOf } from '../../request/client.ts';
import { acceptedLocales } from '../../request/language.ts';
import type { StartCookies } from '../../request/start-cookies.ts';
import { type Route, route } from '../../routing/define-route.ts';
import { Extra, LinkToken, Locale } from '../../routing/fields.ts';
import { type DeviceAccess, PROOF_ERRORS } from '../sessions/refresh.ts';
import { handOver } from './login.ts';

type Settings = TargetSettings & {
  readonly starts: StartCookies;
  /** For the pages of the service; `null`: there are none. */
  readonly states: PageStates | null;
  /** Whether the cookies of the service are `Strict`: browsers do not send them to a page that a redirect from a provider leads to. */
  readonly isStrict: boolean;
};

const Params = v.object({ provider: v.pipe(v.string(), v.maxLength(31), v.examples(['google'])) });
const Started = v.pipe(
  v.object({ url: v.string() }),
  v.examples([{ url: 'https://accounts.google.com/o/oauth2/v2/auth?…' }]),
);

/** Log-in at a provider, and links to what users have there. ADR 0027. */
export const atProviderRoutes = (deps: AtProviderDeps, access: DeviceAccess, settings: Settings): Route[] => {
  const { starts, states, isStrict } = settings;
  const at = locations(settings);
  const start = startAtProvider(deps);
  const finish = finishAtProvider(deps);
  /** Without pages, there is none to which a browser could go by default. */
  const Goal = v.object({ to: states === null ? at.target.wrapped : at.target, errorTo: at.target });
  const begin = async (purpose: Parameters<typeof start>[0], ctx: Context) => {
    const { url, state, sealed } = await start(purpose);
    starts.add(ctx, state, sealed);
    return { url };
  };
  const logIn = route(
    {
      name: 'start-at-provider',
      tag: 'tokens',
      summary: 'Begin a log-in at a provider: return the address to which the browser goes',
      method: 'POST',
      path: '/auth/oidc/:provider',
      cookie: { writes: 'starts' },
      auth: 'public',
      throttle: 'strict',
      request: {
        params: Params,
        body: v.pipe(
          v.object({
            ...Goal.entries,
            locale: v.optional(Locale),
            invitation: v.optional(LinkToken),
            extra: v.optional(Extra),
          }),
          v.examples([{ to: 'https://app.example.org/notes', errorTo: 'https://app.example.org/log-in' }]),
        ),
      },
      response: { data: Started },
      errors: ['DB_RECORD_NOT_FOUND', 'SYS_PROVIDER_UNAVAILABLE'],
    },
    ({ params, body }, ctx) => begin({ ...params, ...body }, ctx),
  );
  return [
    logIn,
    formOf(logIn),
    route(
      {
        name: 'start-link-at-provider',
        tag: 'factors',
        summary: 'Begin to link what the user has at a provider: return the address to which the browser goes',
        method: 'POST',
        path: '/auth/oidc/:provider/link',
        cookie: { writes: 'starts' },
        stepUp: FACTOR_CHANGE,
        throttle: 'strict',
        request: { params: Params, body: v.pipe(Goal, v.examples([{ to: 'https://app.example.org/account' }])) },
        response: { data: Started },
        errors: ['SYS_PROVIDER_UNAVAILABLE'],
      },
      ({ params, body, caller }, ctx) => begin({ ...params, ...body, caller }, ctx),
    ),
    route(
      {
        name: 'provider-callback',
        tag: 'tokens',
        summary: 'For browsers that come from a provider: log in or link, and go on to a page',
        method: 'GET',
        path: '/auth/oidc/:provider/callback',
        cookie: { reads: 'optional', writes: 'may-set' },
        auth: 'public',
        throttle: 'strict',
        request: { params: Params, query: v.unknown() },
        response: { data: v.null(), redirects: true },
        errorPages: true,
        errors: [
          ...(['AUTH_IDENTITY_UNPROVEN', 'AUTH_IDENTITY_CONFLICT', 'SYS_PROVIDER_UNAVAILABLE'] as const),
          ...(['AUTH_ACCOUNT_DISABLED', 'AUTH_EMAIL_UNVERIFIED', 'AUTH_SECOND_FACTOR_REQUIRED'] as const),
          ...(['AUTH_REGISTRATION_CLOSED', 'AUTH_REGISTRATION_REFUSED', 'SYS_HOOK_UNAVAILABLE'] as const),
          ...(['AUTH_STEP_UP_REQUIRED', 'AUTH_TOKEN_INVALID', 'DB_RECORD_NOT_FOUND'] as const),
          ...(['DB_UNIQUE_VIOLATION', 'DB_QUERY_FAILED'] as const),
          ...PROOF_ERRORS,
        ],
        failed: async (ctx, error) =>
          ctx.state.start === undefined ? null : ahead(backFrom(ctx, ctx.state.start, error)),
      },
      async ({ params: { provider }, signal }, ctx) => {
        const answer = new URL(ctx.url, settings.baseUrl).searchParams;
        const state = answer.get('state') ?? '';
        const own = openStarts(deps, starts.take(ctx, state)).find(
          (each) => each.secrets.state === state && each.provider === provider,
        );
        if (own === undefined) throw unprovenIdentity('the browser has begun no such sign-in, or it has expired');
        ctx.state.start = own;
        // The browser comes from another site, but has begun here: its cookies may be read.
        const finished = await finish(
          own,
          answer,
          {
            locales: own.locale === undefined ? acceptedLocales(ctx) : [own.locale],
            origin: originOf(ctx),
            presented: access.device(ctx, undefined),
            refreshTokens: access.cookie.read(ctx),
            rememberedDevices: access.rememberedDevice.read(ctx),
          },
          signal,
        );
        if (finished !== null) handOver(ctx, access, finished);
        ctx.state.location = ahead(at.locationOf('target', own.to, finished === null ? undefined : MARKS.loggedIn));
        return null;
      },
    ),
    ...([...deps.providers.values()].some(({ callback }) => callback.isPosted) ? [postedCallback(deps)] : []),
  ];

  function ahead(location: string): string {
    const isPage = location.startsWith('/');
    return isStrict && isPage && states !== null
      ? `${at.pathOf('provider')}?${new URLSearchParams({ next: location })}`
      : location;
  }

  /** Where an error leads: a page of the service shows it, an application finds its code in the address. */
  function backFrom(ctx: Context, { to, errorTo, caller }: Start, error: AppError): string {
    const back =
      errorTo ?? (states === null ? to : undefined) ?? at.pathOf(caller === undefined ? 'log-in' : 'account');
    const page = at.pageAt(back);
    if (page === undefined) return withParameter(back, 'error', error.code);
    // A step of the log-in, which has not failed.
    if (error.code === 'AUTH_SECOND_FACTOR_REQUIRED') return at.hrefOf('second-factor', to);
    states?.set(ctx, { page, form: '', error: { ...shownError(error), fields: [] } });
    return at.hrefOf(page, to === back ? undefined : to);
  }
};

/** The same by a form, for pages without scripts: of the service, and of applications. */
const formOf = (submits: Route): Route => ({
  ...submits,
  name: `${submits.name}-form`,
  tag: 'pages',
  summary: `Submit a form: as ${submits.method} ${submits.path}, and go to the provider`,
  visitor: true,
  errorPages: true,
  request: { query: v.strictObject({}) },
  form: {
    submits,
    ofApplications: true,
    page: PAGES['log-in'].path,
    succeeded: async ({ state }) => (state.payload as v.InferOutput<typeof Started>).url,
  },
});

/** What a provider may state in the address of the callback. */
const ANSWERS = ['state', 'code', 'iss', 'error'];

/**
 * For providers that post. The request comes from another site, so it has no cookie that is `Lax`, and an origin that is not allowed. It changes
 * nothing: the browser comes again by GET, and has the cookie then.
 */
const postedCallback = (deps: AtProviderDeps): Route =>
  route(
    {
      name: 'posted-provider-callback',
      tag: 'tokens',
      summary: 'For browsers that a provider sends back by POST: come again by GET',
      method: 'POST',
      path: '/auth/oidc/:provider/callback',
      auth: 'public',
      throttle: 'strict',
      request: { params: Params },
      response: { data: v.null(), redirects: true },
      errorPages: true,
      errors: ['DB_RECORD_NOT_FOUND'],
      httpStatuses: [415],
    },
    async ({ params }, ctx) => {
      const { callback } = providerOf(deps, params.provider);
      const form = (await readForm(ctx)) ?? new Map<string, string>();
      const answer = new URLSearchParams([...form].filter(([name]) => ANSWERS.includes(name)));
      ctx.state.location = `${callback.url}?${answer}`;
      return null;
    },
  );
