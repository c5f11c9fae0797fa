import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { assertionVerifier } from '../../adapters/crypto/assertions.ts';
import type { PublicJwks } from '../../adapters/crypto/token-keys.ts';
import { PAGES } from '../../adapters/http/forms/flow.ts';
import { visitors } from '../../adapters/http/forms/visitors.ts';
import type { HttpDeps } from '../../adapters/http/http-deps.ts';
import type { UserPageTemplates } from '../../adapters/http/pages/user-pages.ts';
import { deviceBoundSessions } from '../../adapters/http/request/browser-session.ts';
import { presentedDeviceReader } from '../../adapters/http/request/client.ts';
import { loginCookies, pageCookies, sessionCookies } from '../../adapters/http/request/cookies.ts';
import type { Check } from '../../adapters/http/request/settings.ts';
import { accountRoutes } from '../../adapters/http/routes/accounts/account.ts';
import { exportRoute } from '../../adapters/http/routes/accounts/export.ts';
import {
  emailChangeRoutes,
  formerLinkRoutes,
  linkRoutes,
  passwordResetRoutes,
} from '../../adapters/http/routes/accounts/links.ts';
import { registerRoute } from '../../adapters/http/routes/accounts/register.ts';
import { factorRoutes, identityRoutes } from '../../adapters/http/routes/factors/factors.ts';
import { passkeyRoutes } from '../../adapters/http/routes/factors/passkeys.ts';
import { secondFactorRoutes, stepUpRoute } from '../../adapters/http/routes/factors/second-factor.ts';
import { appLoginRoute } from '../../adapters/http/routes/login/app.ts';
import { adoptRoute, loginRoute } from '../../adapters/http/routes/login/login.ts';
import { loginByCodeRoutes } from '../../adapters/http/routes/login/login-by-code.ts';
import {
  type ConsoleFiles,
  clientRoutes,
  consoleRoutes,
  openApiRoute,
} from '../../adapters/http/routes/service/documents.ts';
import { type EndedFeed, endedSessionsRoute } from '../../adapters/http/routes/service/ended-sessions.ts';
import { errorRoutes } from '../../adapters/http/routes/service/errors.ts';
import { healthRoutes } from '../../adapters/http/routes/service/health.ts';
import { pageRoutes } from '../../adapters/http/routes/service/pages.ts';
import {
  appAssociationRoutes,
  authorizationServerRoute,
  changePasswordRoute,
  keySetRoute,
  passkeyEndpointsRoute,
} from '../../adapters/http/routes/service/well-known.ts';
import { browserRoute } from '../../adapters/http/routes/sessions/browser.ts';
import { deviceKeyRoutes } from '../../adapters/http/routes/sessions/device-key.ts';
import { gatewayRoute, refreshRoutes } from '../../adapters/http/routes/sessions/refresh.ts';
import { accessTokenRoute, continueRoutes } from '../../adapters/http/routes/sessions/server-rendering.ts';
import { sessionRoutes } from '../../adapters/http/routes/sessions/sessions.ts';
import { isDescribed, type Route } from '../../adapters/http/routing/define-route.ts';
import type { Service } from '../../application/service.ts';
import { inviteBrowser } from '../../application/sessions/bind-browser.ts';
import { extendCatalog } from '../../domain/errors/own-errors.ts';
import type { Config } from '../config.ts';
import { REVISION } from '../version.ts';
import { continuation, openPages, siteOf } from './pages.ts';
import { keptIdentities, providerRoutes } from './providers.ts';

type RouteOptions = {
  readonly answerOnce: HttpDeps['answerOnce'];
  readonly checks: readonly Check[];
  readonly isStopping: () => boolean;
  readonly keySet: PublicJwks;
  /** `null` if the signer of tokens cannot sign the list of ended sessions. */
  readonly endedFeed: EndedFeed | null;
  readonly hasAccountPages: boolean;
  readonly pageFiles: () => Promise<UserPageTemplates>;
  readonly own: readonly Route[];
};

/** All routes. @throws Error if a route of the application has the name of another route, or its method and path, or declares an error code in another way */
export const declareRoutes = (
  deps: Service,
  config: Config,
  { answerOnce, checks, isStopping, keySet, endedFeed, hasAccountPages, pageFiles, own }: RouteOptions,
) => {
  const { navigation, pageServers, adoption, baseUrl, boundCookieLifetime, allowedOrigins } = config;
  const settings = siteOf(config);
  const cookie = sessionCookies(config.refreshCookie, config.accessCookie, config.clearSiteData);
  const readPresentedDevice = presentedDeviceReader(baseUrl);
  const bindingOptions = { baseUrl, sameSite: config.refreshCookie.sameSite, initiators: allowedOrigins };
  const browser =
    boundCookieLifetime === null
      ? null
      : deviceBoundSessions({ ...bindingOptions, maxAge: boundCookieLifetime }, inviteBrowser(deps));
  const adoptionDeps = adoption && { ...deps, verifyAssertion: assertionVerifier(adoption.publicKey, baseUrl) };
  const renewal = navigation && { baseUrl, ...navigation, ...continuation(config, pageFiles) };
  const linkKeptIdentity = keptIdentities(deps, config);
  const passkeysPage = config.passkeysPageUrl ?? (config.accountPages ? baseUrl + PAGES.factors.path : null);
  const access = { cookie, ...loginCookies(config.refreshCookie), readPresentedDevice, browser, linkKeptIdentity };
  const proof = pageCookies(config.refreshCookie).pageVisitor;
  const { tokenOf, isLoggedIn, ...visits } = visitors(deps, { cookie, readPresentedDevice, proof });
  const api: Route[] = [
    registerRoute(deps, access),
    loginRoute(deps, access),
    ...(config.appLinks.length === 0 ? [] : [appLoginRoute(deps, access)]),
    ...(config.loginByCode && deps.mailer !== null ? loginByCodeRoutes(deps, access) : []),
    ...(adoption && adoptionDeps ? [adoptRoute(adoptionDeps, access, adoption.ends)] : []),
    ...providerRoutes(deps, access, config, { answerOnce, isLoggedIn }),
    ...refreshRoutes(deps, access, endedFeed),
    ...secondFactorRoutes(deps, access, settings),
    ...(renewal === null ? [] : continueRoutes(deps, access, renewal, readClient('continue-page.js'))),
    ...(pageServers.length === 0 ? [] : [accessTokenRoute(deps, access, pageServers)]),
    ...factorRoutes(deps, settings),
    ...passkeyRoutes(deps, access, settings),
    ...identityRoutes({ ...deps, loginByCode: config.loginByCode && deps.mailer !== null }),
    ...sessionRoutes(deps, cookie),
    gatewayRoute(deps),
    stepUpRoute(deps, access),
    ...(browser === null ? [] : [browserRoute(deps, cookie, browser)]),
    ...accountRoutes(deps, cookie),
    ...passwordResetRoutes(deps, cookie),
    exportRoute(deps),
    ...(deps.mailer === null ? [] : [...linkRoutes(deps, cookie), ...emailChangeRoutes(deps, cookie)]),
  ];
  const describedRoutes = () => routes.filter(isDescribed);
  const routes: Route[] = [
    // Of routes with parameters that match, the router prefers the last one, so those of the service win. With an empty step-up, the guard checks that
    // the session lives.
    ...own.map((each) => (each.auth === 'required' ? { ...each, stepUp: each.stepUp ?? {} } : each)),
    ...api,
    ...(config.accountPages || hasAccountPages
      ? openPages(deps, config, {
          ...{ api, visits, mailPages: hasAccountPages, readFiles: pageFiles },
          script: readClient('user-pages.js'),
        })
      : []),
    ...errorRoutes(settings, () => catalog),
    keySetRoute(keySet),
    ...(config.jwtIssuer === null ? [] : [authorizationServerRoute(config.jwtIssuer, baseUrl, config.jwtBinding)]),
    ...(endedFeed === null ? [] : [endedSessionsRoute(endedFeed, config.requestTimeoutMs)]),
    ...(deps.mailer === null && !config.accountPages ? [] : [changePasswordRoute(passwordPageOf(config))]),
    ...(passkeysPage === null ? [] : [passkeyEndpointsRoute(passkeysPage)]),
    ...appAssociationRoutes(config.nativeApps, linksOfOwnOrigin(config)),
    ...clientRoutes(readClient),
    ...deviceKeyRoutes({
      script: readClient('device-key.js'),
      applications: allowedOrigins,
      isEnabled: hasDeviceKeys(config),
    }),
    ...(hasAccountPages ? formerLinkRoutes(config.accountPagesUrl) : []),
    ...(config.console ? consoleRoutes(consoleFiles(config)) : []),
    ...healthRoutes(checks, isStopping, REVISION),
    openApiRoute(describedRoutes, settings),
    ...pageRoutes(describedRoutes, {
      ...settings,
      allowedOrigins,
      allowedOriginsSetting: config.allowedOriginsSetting,
      operatorStyle: async () => (await pageFiles()).templates.get('style') ?? '',
      hasPage: (path) =>
        (path !== PAGES.register.path || config.registration.mode === 'open') &&
        routes.some((each) => each.path === path && each.method === 'GET'),
    }),
  ];
  const catalog = extendCatalog(routes.map(({ ownErrors }) => ownErrors));
  assertDistinct(own, routes);
  return { routes, visitorToken: tokenOf };
};

const assertDistinct = (own: readonly Route[], routes: readonly Route[]): void => {
  for (const { name, method, path } of own) {
    const matches = routes.filter((each) => each.name === name || (each.method === method && each.path === path));
    if (matches.length > 1)
      throw new Error(`routes: ${name} (${method} ${path}) has the name or the path of another route.`);
  }
};

/** Whether pages keep keys of devices. With SameSite=None they cannot: all sites send the same cookie, but browsers partition the keys by site. */
const hasDeviceKeys = ({ deviceBinding, refreshCookie }: Config): boolean =>
  deviceBinding !== 'off' && refreshCookie.sameSite !== 'none';

/** The URL at which users change their password, or ask for a link. Without a token, a front end's page for password resets has to ask for the address. */
const passwordPageOf = ({ baseUrl, accountPages, ownAccountPages, accountPagesUrl }: Config): string => {
  if (accountPages) return baseUrl + PAGES.account.path;
  return ownAccountPages ? baseUrl + PAGES.forgot.path : `${accountPagesUrl}/password-reset`;
};

const linksOfOwnOrigin = ({ appLinks, baseUrl }: Config): readonly string[] => {
  const { origin } = new URL(baseUrl);
  return appLinks.flatMap((link) => (link.startsWith(`${origin}/`) ? [link.slice(origin.length)] : []));
};

/** Reads a file of the browser client, built by `npm run client` (ADR 0023). */
const readClient = (file: string) => readFileSync(new URL(`../../../client/dist/${file}`, import.meta.url), 'utf8');

const CONSOLE_DIRECTORY = new URL('../../../console/page/', import.meta.url);
const readConsole = (name: string): Promise<string> => readFile(new URL(name, CONSOLE_DIRECTORY), 'utf8');

/** The files of the console, read for each request (ADR 0024). The page gets the lifetime of the refresh cookie, since scripts cannot read that cookie. */
const consoleFiles = ({ jwtRefreshExpiresIn, refreshCookie }: Config): ConsoleFiles => ({
  page: async () =>
    (await readConsole('console.html')).replace(
      '{refreshLifetime}',
      `${Math.min(jwtRefreshExpiresIn, refreshCookie.maxAge)}`,
    ),
  style: () => readConsole('console.css'),
  script: () => readConsole('console.js'),
});
