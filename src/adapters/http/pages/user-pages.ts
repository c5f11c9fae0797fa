import { filledTemplate, filledText, Html, html, NOTHING, type Templates } from '../../../application/templates.ts';
import { PAGES } from '../forms/flow.ts';
import { type Brand, pathIn } from './layout.ts';
import { isOffered, linkOf, type PageFrame, type PageView, type UserTexts } from './page-view.ts';
import { languageName } from './user-fields.ts';
import { formOf } from './user-forms.ts';
import { LISTS, providerUrl } from './user-lists.ts';

/**
 * The pages for users: templates of files, which have variables and no logic (docs/mail-and-pages.md). `{{text.…}}` is a text, `{{link.…}}` the
 * address of a page, `{{form.…}}` a whole form, `{{list.…}}` what the account has. ADR 0024.
 */

const whenOf = (locale: string, seconds: number): string => {
  const format = new Intl.RelativeTimeFormat(locale);
  return seconds < 100 ? format.format(seconds, 'second') : format.format(Math.ceil(seconds / 60), 'minute');
};

export const tryAgain = ({ texts, locale }: PageFrame, retryAfter: number | undefined): string =>
  retryAfter === undefined ? '' : ` ${filledText(texts.common['try-again'] ?? '', () => whenOf(locale, retryAfter))}`;

const alertOf = (shown: PageView): Html => {
  const { state, texts } = shown;
  const { error, notice } = state ?? {};
  // What no form has done is neither good nor bad news.
  const fact = state?.form ? NOTHING : html` fact`;
  if (notice !== undefined)
    return html`<p role="status" class="notice${fact}">${texts.notices[notice] ?? ''}${addressOf(shown)}</p>`;
  if (error === undefined) return NOTHING;
  // The text of the page does not say why a hook has refused.
  const ofPage = error.message === undefined ? texts.pages[shown.name]?.[error.code] : undefined;
  const text = ofPage ?? texts.errors[error.code] ?? texts.errors.other ?? '';
  return html`<p role="alert" class="notice" id="alert">${[text, error.message ?? []].flat().join(' ')}${tryAgain(shown, error.retryAfter)}${addressOf(shown)}</p>`;
};

/** The address of the mail, which the visitor has just typed, and after a registration the link to correct it. */
const addressOf = (shown: PageView): Html => {
  const { name, state, texts, pages, mayRegister } = shown;
  const { email, username } = PAGES[name].corrects === undefined ? {} : (state?.typed ?? {});
  const waits = username !== undefined || state?.error?.code === 'AUTH_EMAIL_UNVERIFIED';
  const { mistyped = '', 'register-again': again = '' } = texts.common;
  return html`${email === undefined ? NOTHING : html` <strong>${email}</strong>`}${
    waits && mayRegister && pages.has('register')
      ? html` ${mistyped} <a href="${linkOf(shown, 'register')}">${again}</a>`
      : NOTHING
  }`;
};

const variableOf = (shown: PageView, variable: string): Html | string => {
  const [kind = '', name = ''] = variable.split('.');
  if (kind === 'form')
    return isOffered(shown, name) ? formOf(shown, name, PAGES[shown.name].forms[name]?.initial?.(shown)) : NOTHING;
  if (kind === 'list') return LISTS[name]?.(shown) ?? NOTHING;
  if (kind === 'link') return linkOf(shown, name);
  const text = kind === 'text' ? name : kind;
  return shown.texts.pages[shown.name]?.[text] ?? shown.texts.common[text] ?? '';
};

/** Links to this page in other languages. They would lose what is shown once. */
const languagesOf = ({ name, state, to, texts, locale }: PageView, locales: readonly string[]): Html => {
  if (state?.payload !== undefined || PAGES[name].leadsOn !== undefined || locales.length < 2) return NOTHING;
  const links = locales.map((each) => {
    const query = new URLSearchParams({ ...(to !== undefined && { to }), locale: each });
    return html`<li><a href="?${`${query}`}" hreflang="${each}" lang="${each}" dir="auto">${languageName(each)}</a></li>\n`;
  });
  return html`<details><summary aria-label="${texts.pages.account?.language ?? ''}: ${languageName(locale)}">${languageName(locale)}</summary>
<ul>${links}</ul></details>`;
};

export type UserPageFiles = Templates<UserTexts>;

export const userPage = (shown: PageView, files: UserPageFiles): string => {
  const title = shown.texts.pages[shown.name]?.title ?? '';
  const url = providerUrl(shown);
  return filledPage(shown, files, {
    template: shown.name,
    title,
    isError: shown.state?.error !== undefined,
    alert: alertOf(shown),
    visitor: visitorOf(shown),
    languages: languagesOf(shown, files.locales),
    script:
      url === null
        ? html`<script type="module" src="${pathIn(shown.site, '/user-pages.js')}"></script>`
        : html`<meta http-equiv="refresh" content="0; url=${url}">`,
    variable: (each) => variableOf(shown, each),
  });
};

/** Who is logged in, with a link to log out. Pages of the account also have one back to the application. */
const visitorOf = (shown: PageView): Html => {
  const { name, payloads, texts, site, to, application } = shown;
  const { username } = payloads['current-user'] ?? {};
  if (username === undefined) return NOTHING;
  const { 'nav-back': back = '', 'nav-log-out': logOut = '' } = texts.common;
  const hasNoWayBack = !PAGES[name].path.startsWith(PAGES.account.path) || (to === undefined && application === null);
  const address = linkOf(shown, 'application');
  // Without a name of the product, the brand has the host of the service as its name.
  const host = site.brand.name === new URL(site.baseUrl).host ? URL.parse(address)?.host : undefined;
  const text = filledText(back, () => host ?? site.brand.name);
  return html`<p class="visitor">${hasNoWayBack ? NOTHING : html`<a href="${address}">${text}</a>\n`}<span><strong>${username}</strong> <a href="${linkOf(shown, 'log-out')}">${logOut}</a></span></p>`;
};

type Content = {
  readonly template: string;
  readonly title: string;
  readonly isError?: boolean;
  readonly alert?: Html;
  readonly visitor?: Html;
  readonly languages?: Html;
  readonly script?: Html;
  readonly variable: (name: string) => Html | string;
};

/** A page in the layout that all have in common. */
export const filledPage = ({ site, texts, locale }: PageFrame, { templates }: UserPageFiles, page: Content): string => {
  const { template, title, isError = false, variable } = page;
  const { alert = NOTHING, visitor = NOTHING, languages = NOTHING, script = NOTHING } = page;
  const { brand } = site;
  const main = filledTemplate(templates.get(template) ?? '', variable);
  const head = html`<link rel="icon" href="${brand.iconUrl ?? pathIn(site, '/icon.svg')}">
<link rel="stylesheet" href="${pathIn(site, '/user-pages.css')}">
${script}`;
  const around: Readonly<Record<string, Html | string>> = {
    // Screen readers begin with it.
    heading: isError ? filledText(texts.common['error-title'] ?? '', () => title) : title,
    ...{ title, head, logo: logoOf(brand), locale, direction: texts.direction, brand: brand.name },
    ...{ alert, visitor, links: linksOf(brand, texts), languages, content: new Html(main) },
    ...Object.fromEntries(['show', 'show-password', 'strength'].map((each) => [each, texts.common[each] ?? ''])),
  };
  return filledTemplate(templates.get('layout') ?? '', (each) => around[each] ?? '');
};

const logoOf = ({ name, logoUrl, logoDarkUrl: dark }: Brand): Html | string => {
  if (logoUrl === null) return name;
  const image = html`<img src="${logoUrl}" alt="${name}">`;
  return dark ? html`<picture><source media="(prefers-color-scheme: dark)" srcset="${dark}">${image}</picture>` : image;
};

const linksOf = ({ termsUrl, privacyUrl, supportUrl }: Brand, { common }: UserTexts): Html => {
  const links = Object.entries({ terms: termsUrl, privacy: privacyUrl, support: supportUrl });
  return html`${links.map(([name, url]) => (url ? html`<a href="${url}">${common[name] ?? ''}</a>\n` : NOTHING))}`;
};
