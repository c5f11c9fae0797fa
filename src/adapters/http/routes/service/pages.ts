import { readFile } from 'node:fs/promises';
import type { Context } from 'koa';
import * as v from 'valibot';
import { texts } from '../../../json/fields.ts';
import { CSS_TYPE, cachedDocument, documentRoute, HTML_TYPE, pagePolicy, SCRIPT_TYPE } from '../../documents.ts';
import { PAGES } from '../../forms/flow.ts';
import type { UserSite } from '../../pages/layout.ts';
import { PUBLIC_READ, type Route, route } from '../../routing/define-route.ts';

type PageSettings = UserSite & {
  readonly allowedOrigins: readonly string[];
  readonly allowedOriginsSetting: string;
  /** The stylesheet that the operator adds to that of the pages for users. */
  readonly operatorStyle: () => Promise<string>;
  /** Whether the service has the page of this path, by its configuration. */
  readonly hasPage: (path: string) => boolean;
};

/** Paths of pages that not every service has, by the names of their links in the response. */
const LINKS = {
  logIn: PAGES['log-in'].path,
  register: PAGES.register.path,
  forgot: PAGES.forgot.path,
  account: PAGES.account.path,
  logOut: PAGES['log-out'].path,
  console: '/console',
} as const;

const HomeJson = v.object({
  name: v.pipe(v.string(), v.examples(['Tandem'])),
  version: v.string(),
  links: v.object({
    ...texts('documentation', 'openapi', 'errors', 'keys', 'client'),
    ...v.partial(v.object(v.entriesFromList(Object.keys(LINKS) as (keyof typeof LINKS)[], v.string()))).entries,
  }),
  origin: v.nullable(
    v.object({ name: v.pipe(v.string(), v.examples(['https://app.example.org'])), allowed: v.boolean() }),
  ),
});

/** Pages for people, and the files that these pages load (ADR 0024). */
export const pageRoutes = (routes: () => readonly Route[], settings: PageSettings): Route[] => {
  const { baseUrl, version, allowedOriginsSetting, hasPage } = settings;
  return [
    route({
      name: 'home',
      tag: 'pages',
      summary: 'Say what this service is, and where to go next',
      ...PUBLIC_READ,
      at: 'GET /',
      response: {
        data: HomeJson,
        page: async ({ links, origin }) =>
          (await import('../../pages/home.ts')).homePage(
            settings,
            links,
            origin && { ...origin, allowedOriginsSetting },
          ),
      },
      handler: (_, ctx) => ({
        name: 'Tandem',
        version,
        origin: callingOrigin(ctx, settings),
        links: {
          documentation: `${baseUrl}/docs`,
          openapi: `${baseUrl}/openapi.json`,
          errors: `${baseUrl}/errors`,
          keys: `${baseUrl}/.well-known/jwks.json`,
          client: `${baseUrl}/client.js`,
          ...Object.fromEntries(
            Object.entries(LINKS).flatMap(([name, path]) => (hasPage(path) ? [[name, baseUrl + path] as const] : [])),
          ),
        },
      }),
    }),
    documentRoute({
      name: 'docs',
      summary: 'Describe every route on a page',
      path: '/docs',
      type: HTML_TYPE,
      contentSecurityPolicy: DOCS_POLICY,
      errorPages: true,
      read: cachedDocument(async () => (await import('../../pages/docs.ts')).docsPage(routes(), settings)),
    }),
    fileRoute('docs-filter', '/docs-filter.js', SCRIPT_TYPE, 'the script that filters the routes on the page'),
    documentRoute({
      name: 'user-pages-stylesheet',
      summary: 'Return the stylesheet of the pages for users, with the look of the product',
      path: '/user-pages.css',
      type: CSS_TYPE,
      read: cachedDocument(async () => {
        const style = await readFile(new URL('../../pages/user-pages.css', import.meta.url), 'utf8');
        const { brandStyle } = await import('../../pages/layout.ts');
        return style + brandStyle(settings.brand) + (await settings.operatorStyle());
      }),
    }),
    ...styleRoutes(),
  ];
};

export const styleRoutes = (): Route[] => [
  fileRoute('stylesheet', '/pages.css', CSS_TYPE, 'the stylesheet of the pages'),
  fileRoute('icon', '/icon.svg', 'image/svg+xml', 'the icon of the pages'),
];

export const officeStyle = (): Route =>
  fileRoute('office-stylesheet', '/office.css', CSS_TYPE, 'the stylesheet of the back office');

/** Returns a file of the folder `pages`. @param path the path of the route, and of the file in the folder */
const fileRoute = (name: string, path: `/${string}`, type: string, what: string): Route =>
  documentRoute({
    name,
    summary: `Return ${what}`,
    path,
    type,
    read: cachedDocument(() => readFile(new URL(`../../pages${path}`, import.meta.url), 'utf8')),
  });

/** Characters. A host name has at most 253. */
const ORIGIN_MAX_LENGTH = 300;

/** The origin from which the browser comes, and whether its pages may call the service; `null`: unknown, or the service itself. */
const callingOrigin = (ctx: Context, { baseUrl, allowedOrigins }: PageSettings) => {
  // Browsers send no `Origin` with a navigation by GET, but may send a `Referer`.
  const page = URL.parse(ctx.get('Origin') || ctx.get('Referer'));
  ctx.vary('Referer');
  if (page === null || !/^https?:$/.test(page.protocol) || page.origin.length > ORIGIN_MAX_LENGTH) return null;
  if (page.host === ctx.host || page.origin === new URL(baseUrl).origin) return null;
  return { name: page.origin, allowed: allowedOrigins.includes(page.origin) };
};

export const DOCS_POLICY = pagePolicy({ 'script-src': "'self'" });
