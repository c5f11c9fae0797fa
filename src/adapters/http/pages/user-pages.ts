import { filledTemplate, filledText, Html, html, NO_HTML, type Templates } from '../../../application/templates.ts';
import { PAGES } from '../forms/flow.ts';
import { type Brand, pathIn } from './layout.ts';
import { hasForm, linkOf, type PageFrame, type PageView, type UserTexts } from './page-view.ts';
import { languageName } from './user-fields.ts';
import { formOf } from './user-forms.ts';
import { LISTS, providerUrl } from './user-lists.ts';

/**
 * The pages for users, from templates, which have variables and no logic (docs/mail-and-pages.md). `{{text.…}}` is a text, `{{link.…}}` a URL,
 * `{{form.…}}` a whole form, `{{list.…}}` another part that code renders. ADR 0024.
 */

const delayOf = (locale: string, seconds: number): string => {
  const format = new Intl.RelativeTimeFormat(locale);
  return seconds < 100 ? format.format(seconds, 'second') : format.format(Math.ceil(seconds / 60), 'minute');
};

export const retryText = ({ texts, locale }: PageFrame, retryAfter: number | undefined): string =>
  retryAfter === undefined ? '' : ` ${filledText(texts.common['try-again'] ?? '', () => delayOf(locale, retryAfter))}`;

const alertOf = (view: PageView): Html => {
  const { state, texts } = view;
  const { error, notice } = state ?? {};
  // A notice that is not the result of a form, such as closed registration, is shown as a fact, not as a success.
  const factClass = state?.form ? NO_HTML : html` fact`;
  if (notice !== undefined)
    return html`<p role="status" class="notice${factClass}">${texts.notices[notice] ?? ''}${mailAddress(view)}</p>`;
  if (error === undefined) return NO_HTML;
  // If a hook has refused the request, the general text and the message of the hook take the place of the page's own text about the error.
  const pageText = error.message === undefined ? texts.pages[view.name]?.[error.code] : undefined;
  const text = pageText ?? texts.errors[error.code] ?? texts.errors.other ?? '';
  return html`<p role="alert" class="notice" id="alert">${[text, error.message ?? []].flat().join(' ')}${retryText(view, error.retryAfter)}${mailAddress(view)}</p>`;
};

/** The address that the visitor has typed for a mail, and for an unverified address a link that corrects it, if registration is open. */
const mailAddress = (view: PageView): Html => {
  const { name, state, texts, pages, mayRegister } = view;
  const { email, username } = PAGES[name].correctedOn === undefined ? {} : (state?.typed ?? {});
  const isUnverified = username !== undefined || state?.error?.code === 'AUTH_EMAIL_UNVERIFIED';
  const { mistyped = '', 'register-again': again = '' } = texts.common;
  return html`${email === undefined ? NO_HTML : html` <strong>${email}</strong>`}${
    isUnverified && mayRegister && pages.has('register')
      ? html` ${mistyped} <a href="${linkOf(view, 'register')}">${again}</a>`
      : NO_HTML
  }`;
};

const variableOf = (view: PageView, variable: string): Html | string => {
  const [kind = '', name = ''] = variable.split('.');
  if (kind === 'form')
    return hasForm(view, name) ? formOf(view, name, PAGES[view.name].forms[name]?.defaults?.(view)) : NO_HTML;
  if (kind === 'list') return LISTS[name]?.(view) ?? NO_HTML;
  if (kind === 'link') return linkOf(view, name);
  const text = kind === 'text' ? name : kind;
  return view.texts.pages[view.name]?.[text] ?? view.texts.common[text] ?? '';
};

/** Links to this page in each language. There are none, for instance, if the state has a payload, which a link would lose. */
const languageLinks = ({ name, state, to, texts, locale }: PageView, locales: readonly string[]): Html => {
  if (state?.payload !== undefined || PAGES[name].forwards !== undefined || locales.length < 2) return NO_HTML;
  const links = locales.map((each) => {
    const query = new URLSearchParams({ ...(to !== undefined && { to }), locale: each });
    return html`<li><a href="?${`${query}`}" hreflang="${each}" lang="${each}" dir="auto">${languageName(each)}</a></li>\n`;
  });
  return html`<details><summary aria-label="${texts.pages.account?.language ?? ''}: ${languageName(locale)}">${languageName(locale)}</summary>
<ul>${links}</ul></details>`;
};

export type UserPageTemplates = Templates<UserTexts>;

export const userPage = (view: PageView, templates: UserPageTemplates): string => {
  const title = view.texts.pages[view.name]?.title ?? '';
  const url = providerUrl(view);
  return filledPage(view, templates, {
    template: view.name,
    title,
    isError: view.state?.error !== undefined,
    alert: alertOf(view),
    visitor: visitorLine(view),
    languages: languageLinks(view, templates.locales),
    script:
      url === null
        ? html`<script type="module" src="${pathIn(view.site, '/user-pages.js')}"></script>`
        : html`<meta http-equiv="refresh" content="0; url=${url}">`,
    variable: (each) => variableOf(view, each),
  });
};

/** The username of the visitor, with a link to log out. Pages of the account also have a link to the target or the application, if there is one. */
const visitorLine = (view: PageView): Html => {
  const { name, payloads, texts, site, to, application } = view;
  const { username } = payloads['current-user'] ?? {};
  if (username === undefined) return NO_HTML;
  const { 'nav-back': back = '', 'nav-log-out': logOut = '' } = texts.common;
  const hasNoWayBack = !PAGES[name].path.startsWith(PAGES.account.path) || (to === undefined && application === null);
  const address = linkOf(view, 'application');
  // An unnamed brand has the host of the service as its name. Then the link names the host to which it leads.
  const host = site.brand.name === new URL(site.baseUrl).host ? URL.parse(address)?.host : undefined;
  const text = filledText(back, () => host ?? site.brand.name);
  return html`<p class="visitor">${hasNoWayBack ? NO_HTML : html`<a href="${address}">${text}</a>\n`}<span><strong>${username}</strong> <a href="${linkOf(view, 'log-out')}">${logOut}</a></span></p>`;
};

type TemplateContent = {
  readonly template: string;
  readonly title: string;
  readonly isError?: boolean;
  readonly alert?: Html;
  readonly visitor?: Html;
  readonly languages?: Html;
  readonly script?: Html;
  readonly variable: (name: string) => Html | string;
};

/** Fills a template, and puts it into the layout that all pages for users have. */
export const filledPage = (
  { site, texts, locale }: PageFrame,
  { templates }: UserPageTemplates,
  page: TemplateContent,
): string => {
  const { template, title, isError = false, variable } = page;
  const { alert = NO_HTML, visitor = NO_HTML, languages = NO_HTML, script = NO_HTML } = page;
  const { brand } = site;
  const main = filledTemplate(templates.get(template) ?? '', variable);
  const head = html`<link rel="icon" href="${brand.iconUrl ?? pathIn(site, '/icon.svg')}">
<link rel="stylesheet" href="${pathIn(site, '/user-pages.css')}">
${script}`;
  const variables: Readonly<Record<string, Html | string>> = {
    // The title of the document, which screen readers read out first.
    heading: isError ? filledText(texts.common['error-title'] ?? '', () => title) : title,
    ...{ title, head, logo: logoOf(brand), locale, direction: texts.direction, brand: brand.name },
    ...{ alert, visitor, links: footerLinks(brand, texts), languages, content: new Html(main) },
    ...Object.fromEntries(['show', 'show-password', 'strength'].map((each) => [each, texts.common[each] ?? ''])),
  };
  return filledTemplate(templates.get('layout') ?? '', (each) => variables[each] ?? '');
};

const logoOf = ({ name, logoUrl, logoDarkUrl }: Brand): Html | string => {
  if (logoUrl === null) return name;
  const image = html`<img src="${logoUrl}" alt="${name}">`;
  return logoDarkUrl
    ? html`<picture><source media="(prefers-color-scheme: dark)" srcset="${logoDarkUrl}">${image}</picture>`
    : image;
};

const footerLinks = ({ termsUrl, privacyUrl, supportUrl }: Brand, { common }: UserTexts): Html => {
  const links = Object.entries({ terms: termsUrl, privacy: privacyUrl, support: supportUrl });
  return html`${links.map(([name, url]) => (url ? html`<a href="${url}">${common[name] ?? ''}</a>\n` : NO_HTML))}`;
};
