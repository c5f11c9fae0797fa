import { type DeviceAccess, eventOriginOf } from '../../adapters/http/request/client.ts';
import { KEPT_IDENTITY_STATE, startCookies } from '../../adapters/http/request/cookies.ts';
import { type CallbackSettings, providerCallbackRoutes } from '../../adapters/http/routes/login/provider-callback.ts';
import { startAtProviderRoutes } from '../../adapters/http/routes/login/start-at-provider.ts';
import type { Route } from '../../adapters/http/routing/define-route.ts';
import { linkKeptIdentities, START_LIFETIME } from '../../application/identities/at-provider.ts';
import type { Service } from '../../application/service.ts';
import type { Config } from '../config.ts';
import { pageStatesOf, targetsOf } from './pages.ts';

type Providers = Service['providers'];

/** The configured providers. Their library is loaded only if there are any. */
export const openProviders = async ({ providers, baseUrl }: Config): Promise<Providers> =>
  providers.length === 0
    ? new Map()
    : (await import('../../adapters/oidc/provider.ts')).identityProviders(providers, baseUrl);

const startsOf = ({ secrets }: Service, { refreshCookie }: Config) =>
  startCookies(refreshCookie, START_LIFETIME, secrets);

/** After a log-in, links the identity of an earlier sign-in at a provider, which a cookie of the browser has, to the account. */
export const keptIdentities = (deps: Service, config: Config): DeviceAccess['linkKeptIdentity'] => {
  if (deps.providers.size === 0) return undefined;
  const [cookie, link] = [startsOf(deps, config).cookieOf(KEPT_IDENTITY_STATE), linkKeptIdentities(deps)];
  return async (ctx, session) => {
    const values = cookie.read(ctx);
    if (values.length === 0) return;
    // A failure is only reported, since the user is logged in already.
    await link(values, session, eventOriginOf(ctx)).catch((error: unknown) => deps.report?.('link-failed', error));
    cookie.clear(ctx);
  };
};

export const providerRoutes = (
  deps: Service,
  deviceAccess: DeviceAccess,
  config: Config,
  requestSettings: Pick<CallbackSettings, 'answerOnce' | 'isLoggedIn'>,
): Route[] => {
  if (deps.providers.size === 0) return [];
  const { refreshCookie, accountPages } = config;
  const settings = {
    ...targetsOf(config),
    starts: startsOf(deps, config),
    cookie: deviceAccess.cookie,
    states: accountPages ? pageStatesOf(deps, config) : null,
    hasStrictCookies: refreshCookie.sameSite === 'strict',
    ...requestSettings,
  };
  return [...startAtProviderRoutes(deps, settings), ...providerCallbackRoutes(deps, deviceAccess, settings)];
};

export const postedCallbacksOf = (providers: Providers): ReadonlySet<string> =>
  new Set(
    [...providers.values()].flatMap(({ name, callback }) => (callback.isPosted ? [`/auth/oidc/${name}/callback`] : [])),
  );
