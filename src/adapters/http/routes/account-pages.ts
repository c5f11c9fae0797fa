import * as v from 'valibot';
import { cachedDocument, HTML_TYPE, PAGE_CACHE_CONTROL } from '../documents.ts';
import type { AccountPageName } from '../pages/account.ts';
import { type Route, route } from '../routing/define-route.ts';

type Settings = { readonly baseUrl: string; readonly version: string; readonly application: string | null };

/** The page may load its own script, style and icon, call this service, and create no markup from text. */
const POLICY = [
  ...["default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self'", "connect-src 'self'"],
  ...["base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"],
  ...["require-trusted-types-for 'script'", "trusted-types 'none'"],
].join('; ');

const SUMMARIES: Readonly<Record<AccountPageName, string>> = {
  'password-reset': 'Return the page of the link that resets a password',
  'email-verification': 'Return the page of the link that verifies an email address',
  'not-me': 'Return the page of the link that refuses a registration',
  'email-change': 'Return the page of the link that confirms a new email address',
  'email-change-undo': 'Return the page of the link that undoes a change of the email address',
};

/** The service's own pages for links in mail, and their script. ADR 0042. */
export const accountPageRoutes = (settings: Settings, script: string): Route[] => [
  // `Object.keys` is typed to return any strings.
  ...(Object.keys(SUMMARIES) as AccountPageName[]).map((name) => pageRoute(settings, name)),
  route(
    {
      name: 'account-page-script',
      tag: 'pages',
      summary: 'Return the script of the pages for links in mail',
      method: 'GET',
      path: '/account-page.js',
      auth: 'public',
      throttle: 'public',
      response: {
        data: v.pipe(v.string(), v.examples(["import { AuthError } from './client.js';…"])),
        unwrapped: { type: 'text/javascript; charset=utf-8', cacheControl: PAGE_CACHE_CONTROL },
      },
    },
    () => script,
  ),
];

const pageRoute = (settings: Settings, name: AccountPageName): Route => {
  const page = cachedDocument(async () => (await import('../pages/account.ts')).accountPage(settings, name));
  return route(
    {
      name: `${name}-page`,
      tag: 'pages',
      summary: SUMMARIES[name],
      method: 'GET',
      path: `/account/${name}`,
      auth: 'public',
      throttle: 'public',
      // Some mail programs add parameters to links.
      request: { query: v.unknown() },
      errorPages: true,
      response: {
        data: v.pipe(v.string(), v.examples(['<!doctype html>…'])),
        unwrapped: { type: HTML_TYPE, cacheControl: PAGE_CACHE_CONTROL, contentSecurityPolicy: POLICY },
      },
    },
    async (_input, ctx) => {
      const { text, etag } = await page();
      ctx.etag = etag;
      return text;
    },
  );
};
