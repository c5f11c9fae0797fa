import { type Html, html, NOTHING } from '../../../application/html.ts';
import type { AppError } from '../../../domain/errors/app-error.ts';
import { layout, pathIn, type UserSite } from './layout.ts';
import { DE } from './texts/de.ts';
import { EN } from './texts/en.ts';
import type { AccountPageName, FieldName, PageLocale, PageTextsOfLanguage } from './texts/texts.ts';

export const PAGE_TEXTS: Readonly<Record<PageLocale, PageTextsOfLanguage>> = { en: EN, de: DE };

type Form = {
  /** The name by which `account-page.js` knows what to do. */
  readonly action: string;
  readonly field?: FieldName;
};

type AccountPage = {
  /** Shown when the link has a token. */
  readonly withToken: Form & { readonly shows?: 'emailChange'; readonly namesAccount?: true };
  /** Shown without a token, and when the link is no longer valid. */
  readonly without?: Form;
};

const FIELDS: Readonly<Record<FieldName, { readonly type: string; readonly autocomplete: string }>> = {
  email: { type: 'email', autocomplete: 'email' },
  newPassword: { type: 'password', autocomplete: 'new-password' },
  password: { type: 'password', autocomplete: 'current-password' },
};

/** The pages for links in mail. Opening one has no effect, since mail scanners follow links. */
const ACCOUNT_PAGES: Readonly<Record<AccountPageName, AccountPage>> = {
  'password-reset': {
    withToken: { action: 'reset-password', field: 'newPassword', namesAccount: true },
    without: { action: 'request-password-reset', field: 'email' },
  },
  'email-verification': {
    withToken: { action: 'verify-email' },
    without: { action: 'request-email-verification', field: 'email' },
  },
  'not-me': { withToken: { action: 'refuse-registration' } },
  'email-change': { withToken: { action: 'confirm-email-change', field: 'password', shows: 'emailChange' } },
  'email-change-undo': { withToken: { action: 'undo-email-change' } },
  'factors-undo': { withToken: { action: 'undo-factors' } },
};

export type AccountSite = UserSite & {
  /** The origin of the application to which the pages lead back; `null`: not known. */
  readonly application: string | null;
};

export const accountPage = (site: AccountSite, name: AccountPageName, locale: PageLocale): string => {
  const texts = PAGE_TEXTS[locale];
  const { title, lead, afterwards, ...ofPage } = texts.pages[name];
  const { withToken, without }: AccountPage = ACCOUNT_PAGES[name];
  const shown = withToken.shows === undefined ? NOTHING : html`${texts[withToken.shows].map(previewOf)}`;
  const preview = withToken.namesAccount ? USERNAME : shown;
  return layout(site, {
    title,
    forUsers: { ...site, locale },
    script: html`<script type="module" src="${pathIn(site, '/account-page.js')}"></script>\n`,
    main: html`<h1>${title}</h1>
<p class="lead" data-until-done>${lead}</p>
<noscript><p>${texts.noScript}</p></noscript>
<p id="not-loaded" class="late">${texts.notLoaded}</p>
<p role="status" tabindex="-1" data-texts="${JSON.stringify(texts.script)}"></p>
${formOf(texts, { ...withToken, ...ofPage, preview }, html`data-with-token data-afterwards="${afterwards}"`)}
${without === undefined ? NOTHING : formOf(texts, { ...without, ...ofPage, ...ofPage.without }, html`data-without-token`)}
${
  site.application === null
    ? NOTHING
    : linkBack(
        texts.continueTo.replace('{brand}', () => site.brand.name),
        site.application,
      )
}`,
  });
};

const linkBack = (text: string, application: string): Html =>
  html`<p hidden data-when-done><a href="${application}">${text}</a></p>`;

/** The script fills it in. Password managers store the new password under this name. */
const USERNAME = html`<input hidden name="username" autocomplete="username" data-value="username">`;

/** A paragraph that `account-page.js` completes before it shows it: `data-value` names a member of the preview. */
const previewOf = (text: string): Html => {
  const parts = text.split(/\{(\w+)\}/).map((part, at) => {
    if (at % 2 === 0) return html`${part}`;
    return part === 'username'
      ? html`<strong data-value="${part}"></strong>`
      : html`<time data-value="${part}"></time>`;
  });
  return html`<p hidden>${parts}</p>\n`;
};

type FormContent = Form & { readonly button: string; readonly done: string; readonly preview?: Html };

/** Hidden until the script knows whether the URL of the page has a token. The service validates the fields. */
const formOf = (
  { labels, rules, showPassword }: PageTextsOfLanguage,
  { action, button, done, field, preview = NOTHING }: FormContent,
  attributes: Html,
): Html =>
  html`<form hidden novalidate data-action="${action}" data-done="${done}" ${attributes}>
${preview}
${field === undefined ? NOTHING : fieldOf(field, labels[field], { rules: rules[field], showPassword })}
<button>${button}</button>
</form>`;

type FieldTexts = { readonly rules: string | undefined; readonly showPassword: string };

const fieldOf = (name: FieldName, label: string, { rules, showPassword }: FieldTexts): Html => {
  const { type, autocomplete } = FIELDS[name];
  const described = rules === undefined ? NOTHING : html` aria-describedby="${name}-rules"`;
  const attributes = html`id="${name}" name="${name}" type="${type}" autocomplete="${autocomplete}"${described}`;
  return html`<p class="field"><label for="${name}">${label}</label>
${rules === undefined ? NOTHING : html`<span class="rules" id="${name}-rules">${rules}</span>\n`}<input ${attributes}></p>
${type === 'password' ? html`<p><label><input type="checkbox" data-shows="${name}"> ${showPassword}</label></p>` : NOTHING}`;
};

/** The page of an error for an end user. What it shows besides is for the operator, to whom the user may turn. */
export const userFailurePage = (site: UserSite, error: AppError, requestId: string, locale: PageLocale): string => {
  const { failure, script } = PAGE_TEXTS[locale];
  const { code, retryAfter } = error;
  return layout(site, {
    title: failure.title,
    forUsers: { ...site, locale },
    main: html`<h1>${failure.title}</h1>
<p class="lead">${script.errors[code] ?? failure.advice}</p>
${retryAfter === undefined ? NOTHING : html`<p>${script.tryAgain.replace('{seconds}', `${retryAfter}`)}</p>`}
<dl>
<dt>${failure.code}</dt><dd><code>${code}</code></dd>
<dt>${failure.requestId}</dt><dd><code>${requestId}</code></dd>
</dl>`,
  });
};

const CONTINUE_TEXTS: Readonly<Record<PageLocale, Readonly<Record<'title' | 'text' | 'again' | 'noScript', string>>>> =
  {
    en: {
      title: 'One moment',
      text: 'Your session is being renewed.',
      again: 'Try again',
      noScript: 'This page needs JavaScript.',
    },
    de: {
      title: 'Einen Moment',
      text: 'Ihre Sitzung wird verlängert.',
      again: 'Erneut versuchen',
      noScript: 'Diese Seite benötigt JavaScript.',
    },
  };

/** Where to go when the session is renewed, and when nobody is logged in. */
type Targets = { readonly to: string; readonly login: string };

/** A page that renews a session whose device has a key, and goes on: only a script can prove the key. ADR 0023. */
export const continuePage = (site: UserSite, locale: PageLocale, { to, login }: Targets): string => {
  const { title, text, again, noScript } = CONTINUE_TEXTS[locale];
  return layout(site, {
    title,
    forUsers: { brand: { ...site.brand, logoUrl: null }, locale },
    script: html`<script type="module" src="${pathIn(site, '/continue-page.js')}"></script>\n`,
    main: html`<h1>${title}</h1>
<p role="status" data-to="${to}" data-login="${login}">${text}</p>
<p><a href="">${again}</a></p>
<noscript><p>${noScript}</p></noscript>`,
  });
};
