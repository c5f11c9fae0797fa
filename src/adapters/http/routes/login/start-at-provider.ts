import type { Context } from 'koa';
import * as v from 'valibot';
import { startAtProvider } from '../../../../application/identities/at-provider.ts';
import type { Service } from '../../../../application/service.ts';
import { FACTOR_CHANGE } from '../../../../domain/assurance.ts';
import { Extra, LinkToken, Locale } from '../../../json/fields.ts';
import { PAGES } from '../../forms/flow.ts';
import { locations } from '../../forms/locations.ts';
import type { PageStates } from '../../forms/page-state.ts';
import { AppLink, type TargetSettings } from '../../forms/targets.ts';
import type { SessionCookies, StartCookies } from '../../request/cookies.ts';
import { type Route, route } from '../../routing/define-route.ts';

export type AtProviderSettings = TargetSettings & {
  readonly starts: StartCookies;
  readonly cookie: Pick<SessionCookies, 'readOwn'>;
  /** `null`: the service has no pages for users. */
  readonly states: PageStates | null;
};

export const ProviderParams = v.object({ provider: v.pipe(v.string(), v.maxLength(31), v.examples(['google'])) });

const ProviderUrlJson = v.object({ url: v.string() });

/** Routes that begin a log-in at a provider, or the linking of an identity (ADR 0027). */
export const startAtProviderRoutes = (deps: Service, settings: AtProviderSettings): Route[] => {
  const { starts, states, cookie } = settings;
  const { target } = locations(settings);
  /** The default of `to` is the account page. A service without pages has no default, so it requires `to`. */
  const TargetsBody = v.object({ to: states === null ? target.wrapped : target, errorTo: target });
  const start = async (purpose: Parameters<ReturnType<typeof startAtProvider>>[0], ctx: Context) => {
    const { url, state, sealed } = await startAtProvider(deps)(purpose, cookie.readOwn(ctx).length > 0);
    starts.add(ctx, state, sealed);
    return { url };
  };
  const logIn = route({
    name: 'start-at-provider',
    tag: 'tokens',
    summary: 'Begin a log-in at a provider: return the address to which the browser goes',
    description:
      'The browser goes to `url`, and has to come back within ten minutes with the cookie that the response sets. A form with the same fields gets 303.',
    at: 'POST /auth/oidc/:provider',
    cookie: { reads: 'optional', writes: 'starts' },
    auth: 'public',
    throttle: 'strict',
    request: {
      params: ProviderParams,
      body: v.object({
        ...TargetsBody.entries,
        locale: v.optional(Locale),
        invitation: v.optional(LinkToken),
        extra: v.optional(Extra),
      }),
    },
    response: { data: ProviderUrlJson },
    errors: ['DB_RECORD_NOT_FOUND', 'SYS_PROVIDER_UNAVAILABLE'],
    handler: ({ params, body }, ctx) => start({ ...params, ...body }, ctx),
  });
  return [
    logIn,
    formRoute(logIn),
    ...(settings.appLinks?.length ? [appRoute(logIn, AppLink(settings))] : []),
    route({
      name: 'start-link-at-provider',
      tag: 'factors',
      summary: 'Begin to link what the user has at a provider: return the address to which the browser goes',
      at: 'POST /auth/oidc/:provider/link',
      cookie: { writes: 'starts' },
      stepUp: FACTOR_CHANGE,
      throttle: 'strict',
      request: { params: ProviderParams, body: TargetsBody },
      response: { data: ProviderUrlJson },
      errors: ['SYS_PROVIDER_UNAVAILABLE'],
      handler: ({ params, body, caller }, ctx) => start({ ...params, ...body, caller }, ctx),
    }),
  ];
};

/** The log-in by a link that an app opens in the system's browser. The app gets its code only after a click on a page of the service. */
const appRoute = ({ handler, ...logIn }: Route, to: ReturnType<typeof AppLink>): Route => ({
  ...logIn,
  name: `${logIn.name}-for-app`,
  tag: 'pages',
  summary: `For browsers that an app opens: as ${logIn.method} ${logIn.path}, and go to the provider`,
  method: 'GET',
  errorPages: true,
  request: { params: ProviderParams, query: v.looseObject({ to }) },
  response: { ...logIn.response, redirects: true },
  handler: async (input, ctx) => {
    const { to } = input.query as { readonly to: string };
    const result = (await handler({ ...input, body: { to } }, ctx)) as v.InferOutput<typeof ProviderUrlJson>;
    ctx.state.location = result.url;
    return result;
  },
});

/** The log-in by a form of a page of the service or of an application. */
const formRoute = (submits: Route): Route => ({
  ...submits,
  name: `${submits.name}-form`,
  tag: 'pages',
  summary: `Submit a form: as ${submits.method} ${submits.path}, and go to the provider`,
  visitor: true,
  errorPages: true,
  request: { query: v.strictObject({}) },
  form: {
    submits,
    allowsApplications: true,
    page: PAGES['log-in'].path,
    successLocation: async ({ state }) => (state.payload as v.InferOutput<typeof ProviderUrlJson>).url,
  },
});
