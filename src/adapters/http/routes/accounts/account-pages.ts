import type { Context } from 'koa';
import * as v from 'valibot';
import {
  cachedDocument,
  documentRoute,
  HTML_TYPE,
  PAGE_CACHE_CONTROL,
  SCRIPT_TYPE,
  scriptedPagePolicy,
  textLike,
} from '../../documents.ts';
import type { AccountSite } from '../../pages/account.ts';
import type { Brand } from '../../pages/layout.ts';
import type { AccountPageName, PageLocale } from '../../pages/texts/texts.ts';
import { pageLocale } from '../../request/language.ts';
import type { Route } from '../../routing/define-route.ts';

type Settings = AccountSite & { readonly defaultLocale: string };

/** The page may load the logo, too. */
const policyFor = ({ logoUrl }: Brand): string =>
  scriptedPagePolicy({ images: logoUrl === null ? "'self'" : `'self' ${new URL(logoUrl).origin}` });

const SUMMARIES: Readonly<Record<AccountPageName, string>> = {
  'password-reset': 'Return the page of the link that resets a password',
  'email-verification': 'Return the page of the link that verifies an email address',
  'not-me': 'Return the page of the link that refuses a registration',
  'email-change': 'Return the page of the link that confirms a new email address',
  'email-change-undo': 'Return the page of the link that undoes a change of the email address',
  'factors-undo': 'Return the page of the link that undoes changes of passkeys and authenticator apps',
};

/** The service's own pages for links in mail, and their script. ADR 0024. */
export const accountPageRoutes = (settings: Settings, script: string): Route[] => [
  // `Object.keys` is typed to return any strings.
  ...(Object.keys(SUMMARIES) as AccountPageName[]).map((name) =>
    documentRoute(
      {
        name: `${name}-page`,
        tag: 'pages',
        summary: SUMMARIES[name],
        path: `/account/${name}`,
        // Some mail programs add parameters to links.
        request: { query: v.unknown() },
        errorPages: 'users',
        data: textLike('<!doctype html>…'),
        unwrapped: {
          type: HTML_TYPE,
          cacheControl: PAGE_CACHE_CONTROL,
          contentSecurityPolicy: policyFor(settings.brand),
        },
      },
      inTheirLanguage(settings, name),
    ),
  ),
  documentRoute(
    {
      name: 'account-page-script',
      tag: 'pages',
      summary: 'Return the script of the pages for links in mail',
      path: '/account-page.js',
      data: textLike("import { AuthError } from './client.js';…"),
      unwrapped: { type: SCRIPT_TYPE, cacheControl: PAGE_CACHE_CONTROL },
    },
    () => script,
  ),
];

/** The page in the language of the browser: one document for each language. */
const inTheirLanguage = (settings: Settings, name: AccountPageName) => {
  const pageIn = (locale: PageLocale) =>
    cachedDocument(async () => (await import('../../pages/account.ts')).accountPage(settings, name, locale));
  const documents = { en: pageIn('en'), de: pageIn('de') } satisfies Record<PageLocale, unknown>;
  return (ctx: Context) => {
    ctx.vary('Accept-Language');
    return documents[pageLocale(ctx, settings.defaultLocale)]();
  };
};
