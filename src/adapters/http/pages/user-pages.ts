import { Html, html, NOTHING } from '../../../application/html.ts';
import { PAGES, type PageName } from '../forms/flow.ts';
import { pathIn } from './layout.ts';
import { formOf, type Shown, type UserTexts } from './user-forms.ts';
import { isOffered, LISTS, withIds } from './user-lists.ts';

/**
 * The pages for users: templates of files, which have variables and no logic (docs/mail-and-pages.md). `{{text.…}}` is a text, `{{link.…}}` the
 * address of a page, `{{form.…}}` a whole form, `{{list.…}}` what the account has. ADR 0024.
 */

const VARIABLE = /\{\{([\w.-]+)\}\}/g;

const fill = (template: string, variable: (name: string) => Html | string): string =>
  template.replaceAll(VARIABLE, (_all, name: string) => html`${variable(name)}`.text);

const alertOf = ({ state, texts }: Shown): Html => {
  const { error, notice } = state ?? {};
  if (notice !== undefined) return html`<p role="status">${texts.notices[notice] ?? ''}</p>`;
  if (error === undefined) return NOTHING;
  const text = texts.errors[error.code] ?? texts.errors.other ?? '';
  const wait = (texts.common['try-again'] ?? '').replace('{seconds}', `${error.retryAfter}`);
  return html`<p role="alert" id="alert">${text}${error.retryAfter === undefined ? '' : ` ${wait}`}</p>`;
};

const linkOf = ({ site, to, pages, application }: Shown, name: string): string => {
  if (name === 'target') return to ?? pathIn(site, PAGES.account.path);
  if (name === 'application') return application ?? pathIn(site, '/');
  if (name === 'export') return pathIn(site, '/auth/account/export');
  // Without the pages for log-ins, those of links lead back to the application.
  if (!pages.has(name)) return application ?? pathIn(site, '/');
  return pathIn(site, PAGES[name as PageName].path) + (to === undefined ? '' : `?${new URLSearchParams({ to })}`);
};

const variableOf = (shown: Shown, variable: string): Html | string => {
  const [kind = '', name = ''] = variable.split('.');
  if (kind === 'form') return isOffered(shown, name) ? formOf(shown, name, withIds(shown, name)) : NOTHING;
  if (kind === 'list') return LISTS[name]?.(shown) ?? NOTHING;
  if (kind === 'link') return linkOf(shown, name);
  const text = kind === 'text' ? name : kind;
  return shown.texts.pages[shown.name]?.[text] ?? shown.texts.common[text] ?? '';
};

/** What the pages are made of: templates by their names, and texts by their languages. */
export type UserPageFiles = {
  readonly templates: ReadonlyMap<string, string>;
  readonly texts: ReadonlyMap<string, UserTexts>;
};

export const userPage = (shown: Shown, { templates }: UserPageFiles): string => {
  const { site, texts, locale, name } = shown;
  const { brand } = site;
  const title = texts.pages[name]?.title ?? '';
  const template = (each: string): string => templates.get(each) ?? '';
  const main = fill(template(name), (variable) => (variable === 'title' ? title : variableOf(shown, variable)));
  const head = html`<link rel="icon" href="${pathIn(site, '/icon.svg')}" type="image/svg+xml">
<link rel="stylesheet" href="${pathIn(site, '/user-pages.css')}">
<script type="module" src="${pathIn(site, '/user-pages.js')}"></script>`;
  const logo = brand.logoUrl === null ? brand.name : html`<img src="${brand.logoUrl}" alt="${brand.name}">`;
  const around: Readonly<Record<string, Html | string>> = {
    // Also the first thing that a screen reader says of the page.
    heading: shown.state?.error === undefined ? title : (texts.common['error-title'] ?? '').replace('{title}', title),
    ...{ title, head, logo, locale, direction: texts.direction, brand: brand.name },
    ...{ alert: alertOf(shown), content: new Html(main) },
    ...Object.fromEntries(['show', 'show-password', 'strength'].map((each) => [each, texts.common[each] ?? ''])),
  };
  return fill(template('layout'), (variable) => around[variable] ?? '');
};
