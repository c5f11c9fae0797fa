import type { Context } from 'koa';
import { scriptedPagePolicy } from '../../adapters/http/documents.ts';
import { PAGES, type Page } from '../../adapters/http/forms/flow.ts';
import type { FormDeps } from '../../adapters/http/forms/form-routes.ts';
import { type PageContent, userPageRoutes } from '../../adapters/http/forms/page-routes.ts';
import { type PageState, pageStates } from '../../adapters/http/forms/page-state.ts';
import type { HttpDeps } from '../../adapters/http/http-deps.ts';
import type { ContinueTargets } from '../../adapters/http/pages/continue.ts';
import type { Brand } from '../../adapters/http/pages/layout.ts';
import type { UserPageTemplates } from '../../adapters/http/pages/user-pages.ts';
import { pageLocale, presentedDeviceReader } from '../../adapters/http/request/client.ts';
import { pageCookies } from '../../adapters/http/request/cookies.ts';
import { appCodeRoute } from '../../adapters/http/routes/login/app.ts';
import { nameAccountRoute } from '../../adapters/http/routes/login/login.ts';
import { userScriptRoute } from '../../adapters/http/routes/service/documents.ts';
import type { Route } from '../../adapters/http/routing/define-route.ts';
import { readQuery } from '../../adapters/http/stages/input-validation.ts';
import type { Service } from '../../application/service.ts';
import type { AppError } from '../../domain/errors/app-error.ts';
import { fallbacksOf } from '../../domain/text.ts';
import type { Config } from '../config.ts';
import { VERSION } from '../version.ts';

type Options = {
  readonly api: readonly Route[];
  readonly visits: Omit<FormDeps, 'states' | 'usedLast'>;
  readonly mailPages: boolean;
  readonly script: string;
  readonly readFiles: () => Promise<UserPageTemplates>;
};

/** The language of the parameter `locale` if it has texts, or else that of `pageLocale`; and its texts, or English ones. */
const textsFor = (ctx: Context, { texts, locales }: UserPageTemplates, defaultLocale: string) => {
  const requestedLocale = readQuery(ctx.url)?.locale;
  const locale = locales.find((each) => each === requestedLocale) ?? pageLocale(ctx, defaultLocale, locales);
  const localeTexts = texts.get(locale) ?? texts.get('en');
  if (localeTexts === undefined) throw new Error('There are no texts of pages.');
  return { locale, texts: localeTexts };
};

/** The default language of a page: that of the account, or else of DEFAULT_LOCALE; `undefined` if both lack texts. */
const localeOf = (
  { payloads }: PageContent,
  { locales }: UserPageTemplates,
  defaultLocale: string,
): string | undefined =>
  fallbacksOf(payloads['current-user']?.locale ?? null, defaultLocale).find((each) => locales.includes(each));

export const siteOf = ({ baseUrl, brand }: Pick<Config, 'baseUrl' | 'brand'>) => ({ baseUrl, brand, version: VERSION });

export const userFailures = (config: Config, readFiles: Options['readFiles']): HttpDeps['renderUserError'] => {
  const { brand, defaultLocale, allowedOrigins, application, accountPages } = config;
  const contentSecurityPolicy = policyFor(brand, allowedOrigins);
  return async (ctx, error) => {
    const files = await readFiles();
    const failure = {
      ...{ site: siteOf(config), application, error, requestId: ctx.request.id },
      ...textsFor(ctx, files, defaultLocale),
      retryUrl: retryUrlOf(ctx, error),
      logInPath: accountPages ? PAGES['log-in'].path : null,
    };
    const { userFailurePage } = await import('../../adapters/http/pages/user-failure.ts');
    return { text: userFailurePage(failure, files), contentSecurityPolicy };
  };
};

/** The page `/auth/continue`, which renews a session during a navigation. Its script uses the key of the device, in a frame. */
export const continuation = (config: Config, readFiles: Options['readFiles']) => ({
  contentSecurityPolicy: scriptedPagePolicy({ 'img-src': imagesOf(config.brand), 'frame-src': "'self'" }),
  renderPage: async (ctx: Context, targets: ContinueTargets): Promise<string> => {
    const files = await readFiles();
    const { continuePage } = await import('../../adapters/http/pages/continue.ts');
    return continuePage({ site: siteOf(config), ...textsFor(ctx, files, config.defaultLocale) }, targets, files);
  },
});

/** The URL at which a visitor can try again: the page of the form; after an error 5xx or 429 of a GET request an empty text, for the same URL; or `null`. */
const retryUrlOf = ({ method, state }: Context, { status }: AppError): string | null => {
  if (state.route?.form !== undefined) return state.route.form.page;
  return method === 'GET' && (status >= 500 || status === 429) ? '' : null;
};

/** The targets to which the pages may lead. The service's own origin is one, since it may have an application, or the console. */
export const targetsOf = ({ baseUrl, allowedOrigins, appLinks, officeLink }: Config) => ({
  baseUrl,
  targetOrigins: [...allowedOrigins, new URL(baseUrl).origin],
  appLinks,
  officeLink,
});

export const pageStatesOf = (deps: Pick<Service, 'secrets' | 'clock'>, { refreshCookie }: Config) =>
  pageStates(deps, pageCookies(refreshCookie).pageState);

/** The routes of the pages for users, whose forms call the routes of the API (ADR 0024). */
export const openPages = (deps: Service, config: Config, { api, script, mailPages, visits, readFiles }: Options) => {
  const { brand, defaultLocale, allowedOrigins, application } = config;
  const targets = targetsOf(config);
  const site = siteOf(config);
  const registration = config.registration.mode;
  const { passkeyOffered, usedLast, pageLocale: localeCookie } = pageCookies(config.refreshCookie);
  const isEnabled = (page: Page) => config.accountPages || (mailPages && page.isOfMail === true);
  const pages = userPageRoutes({
    api: [
      ...api,
      nameAccountRoute,
      ...(targets.appLinks.length === 0 && targets.officeLink === null
        ? []
        : [appCodeRoute(deps, targets, presentedDeviceReader(config.baseUrl))]),
    ],
    isEnabled,
    registration,
    ...targets,
    states: pageStatesOf(deps, config),
    usedLast,
    contentSecurityPolicy: policyFor(brand, allowedOrigins),
    render: async (ctx, content) => {
      ctx.vary('Accept-Language');
      const files = await readFiles();
      const qr = await qrOf(content.state);
      const context = {
        site,
        application,
        minPasswordLength: config.passwordLimits.minLength,
        pages: pageNames,
        hasPath: (path: string) => paths.has(path),
        mayRegister: registration === 'open',
        providers: [...deps.providers.values()],
        passwords: config.passwords,
        wasOfferedPasskey: passkeyOffered.read(ctx).length > 0,
        lastUsedForm: usedLast.read(ctx)[0],
        locales: deps.mailLocales ?? [],
        ...textsFor(ctx, files, localeOf(content, files, defaultLocale) ?? defaultLocale),
      };
      if (readQuery(ctx.url)?.locale === context.locale) localeCookie.set(ctx, context.locale);
      if (PAGES[content.name].isSkipped !== undefined) passkeyOffered.set(ctx, 'yes');
      const { userPage } = await import('../../adapters/http/pages/user-pages.ts');
      return userPage({ ...content, ...context, qr, once: deps.secrets.random(), now: deps.clock.now() }, files);
    },
    ...visits,
  });
  const paths: ReadonlySet<string> = new Set(pages.map(({ path }) => path));
  const pageNames: ReadonlySet<string> = new Set(
    Object.entries(PAGES).flatMap(([name, { path }]) => (paths.has(path) ? [name] : [])),
  );
  return [...pages, userScriptRoute(script)];
};

const qrOf = async (state: PageState | null): Promise<string | null> => {
  const { uri } = (state?.payload ?? state?.typed ?? {}) as { readonly uri?: string };
  return uri === undefined ? null : (await import('uqr')).renderSVG(uri);
};

const imagesOf = ({ logoUrl, logoDarkUrl, iconUrl }: Brand): string => {
  const origins = [logoUrl, logoDarkUrl, iconUrl].flatMap((url) => (url ? [new URL(url).origin] : []));
  return ["'self'", ...new Set(origins)].join(' ');
};

const policyFor = (brand: Brand, targets: readonly string[]): string =>
  scriptedPagePolicy({ 'img-src': imagesOf(brand), 'form-action': ["'self'", ...targets].join(' ') });
