import { readFile } from 'node:fs/promises';
import type { Context } from 'koa';
import * as v from 'valibot';
import { texts } from '../../../json/fields.ts';
import { CSS_TYPE, cachedDocument, documentRoute, HTML_TYPE, pagePolicy, SCRIPT_TYPE } from '../../documents.ts';
import { PAGES } from '../../forms/flow.ts';
import type { UserSite } from '../../pages/layout.ts';
import { PUBLIC_READ, type Route, route } from '../../routing/define-route.ts';

type Settings = UserSite & {
  readonly allowedOrigins: readonly string[];
  readonly allowedOriginsSetting: string;
  /** The operator's addition to the stylesheet of the pages for users. */
  readonly ownStyle: () => Promise<string>;
  /** Whether the service has a page at the path. */
  readonly has: (path: string) => boolean;
};

/** Paths of pages that a service need not have, by the names of their links. */
const OPTIONAL = {
  logIn: PAGES['log-in'].path,
  register: PAGES.register.path,
  forgot: PAGES.forgot.path,
  account: PAGES.account.path,
  logOut: PAGES['log-out'].path,
  console: '/console',
} as const;
const OPTIONAL_LINKS = Object.entries(OPTIONAL);

const Home = v.object({
  name: v.pipe(v.string(), v.examples(['Tandem'])),
  version: v.string(),
  links: v.object({
    ...texts('documentation', 'openapi', 'errors', 'keys', 'client'),
    ...v.partial(v.object(v.entriesFromList(Object.keys(OPTIONAL) as (keyof typeof OPTIONAL)[], v.string()))).entries,
  }),
  origin: v.nullable(
    v.object({ name: v.pipe(v.string(), v.examples(['https://app.example.org'])), allowed: v.boolean() }),
  ),
});

/** Pages for people, and the files that they load. ADR 0024. */
export const pageRoutes = (routes: () => readonly Route[], settings: Settings): Route[] => {
  const { baseUrl, version, allowedOriginsSetting, has } = settings;
  return [
    route({
      name: 'home',
      tag: 'pages',
      summary: 'Say what this service is, and where to go next',
      ...PUBLIC_READ,
      at: 'GET /',
      response: {
        data: Home,
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
        origin: visitorOf(ctx, settings),
        links: {
          documentation: `${baseUrl}/docs`,
          openapi: `${baseUrl}/openapi.json`,
          errors: `${baseUrl}/errors`,
          keys: `${baseUrl}/.well-known/jwks.json`,
          client: `${baseUrl}/client.js`,
          ...Object.fromEntries(
            OPTIONAL_LINKS.flatMap(([name, path]) => (has(path) ? [[name, baseUrl + path] as const] : [])),
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
        return style + brandStyle(settings.brand) + (await settings.ownStyle());
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

/** @param path of the file as well, below `pages` */
const fileRoute = (name: string, path: `/${string}`, type: string, what: string): Route =>
  documentRoute({
    name,
    summary: `Return ${what}`,
    path,
    type,
    read: cachedDocument(() => readFile(new URL(`../../pages${path}`, import.meta.url), 'utf8')),
  });

/** Longer than any host name. */
const ORIGIN_MAX_LENGTH = 300;

/** The origin of the page that leads here, and whether it may call the service; `null`: unknown, or the service itself. */
const visitorOf = (ctx: Context, { baseUrl, allowedOrigins }: Settings) => {
  // Navigations have no Origin.
  const from = URL.parse(ctx.get('Origin') || ctx.get('Referer'));
  ctx.vary('Referer');
  if (from === null || !/^https?:$/.test(from.protocol) || from.origin.length > ORIGIN_MAX_LENGTH) return null;
  if (from.host === ctx.host || from.origin === new URL(baseUrl).origin) return null;
  return { name: from.origin, allowed: allowedOrigins.includes(from.origin) };
};

export const DOCS_POLICY = pagePolicy({ 'script-src': "'self'" });
