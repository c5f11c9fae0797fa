import { readdirSync, readFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { Html, html, NOTHING } from '../../../application/html.ts';
import { PAGES, type PageName, pathOf } from '../forms/flow.ts';
import type { PageContent } from '../forms/page-routes.ts';
import { pathIn, type UserSite } from './layout.ts';

/** The pages for users: a template each, whose variables are texts, fields, forms, links and lists. Templates have no logic. ADR 0024. */

export type UserTexts = {
  readonly common: Readonly<Record<string, string>>;
  readonly errors: Readonly<Record<string, string>>;
  readonly notices: Readonly<Record<string, string>>;
  readonly fields: Readonly<Record<string, Readonly<Record<string, string>> | string>>;
  readonly pages: Readonly<Record<string, Readonly<Record<string, string>>>>;
};

const TEMPLATES = new URL('templates/', import.meta.url);

/** The built-in templates, by their names. */
export const builtInTemplates = (): ReadonlyMap<string, string> =>
  new Map(
    readdirSync(TEMPLATES).map((file) => [file.replace('.html', ''), readFileSync(new URL(file, TEMPLATES), 'utf8')]),
  );

const VARIABLE = /\{\{([\w.-]+)\}\}/g;

const fill = (template: string, valueOf: (name: string) => Html | string): string =>
  template.replaceAll(VARIABLE, (_all, name: string) => html`${valueOf(name)}`.text);

type Attributes = { readonly type: string; readonly autocomplete: string; readonly inputmode?: string };

/** The fields, by the members of the bodies that they become. The values of `autocomplete` are those of the HTML standard. */
const FIELDS: Readonly<Record<string, Attributes>> = {
  account: { type: 'text', autocomplete: 'username webauthn' },
  username: { type: 'text', autocomplete: 'username' },
  email: { type: 'email', autocomplete: 'email' },
  password: { type: 'password', autocomplete: 'current-password' },
  currentPassword: { type: 'password', autocomplete: 'current-password' },
  newPassword: { type: 'password', autocomplete: 'new-password' },
  code: { type: 'text', autocomplete: 'one-time-code', inputmode: 'numeric' },
  locale: { type: 'text', autocomplete: 'language' },
};

type Shown = PageContent & { readonly texts: UserTexts; readonly site: UserSite; readonly locale: string };

const alertOf = ({ state, texts }: Shown): Html => {
  const { error, notice } = state ?? {};
  if (notice !== undefined) return html`<p role="status" class="done">${texts.notices[notice] ?? ''}</p>`;
  if (error === undefined) return NOTHING;
  const text = texts.errors[error.code] ?? texts.errors['other'] ?? '';
  const wait = error.retryAfter === undefined ? '' : (texts.common['tryAgain'] ?? '').replace('{seconds}', `${error.retryAfter}`);
  return html`<p role="alert" tabindex="-1">${text} ${wait}</p>`;
};

const camel = (name: string): string => name.replaceAll(/-(\w)/g, (_all, letter: string) => letter.toUpperCase());

const fieldOf = ({ state, texts }: Shown, name: string): Html => {
  const { type = 'hidden', autocomplete = 'off', inputmode } = FIELDS[name] ?? {};
  if (type === 'hidden') return html`<input type="hidden" name="${name}">`;
  const own = texts.fields[name];
  const words: Readonly<Record<string, string>> = typeof own === 'object' ? own : {};
  const problem = state?.error?.fields.find(({ field }) => field === name);
  const said = problem && (words[problem.code] ?? words['other'] ?? `${texts.fields['other'] ?? ''}`);
  const described = said === undefined ? NOTHING : html` aria-invalid="true" aria-describedby="${name}-problem"`;
  const mode = inputmode === undefined ? NOTHING : html` inputmode="${inputmode}"`;
  const value = type === 'password' ? NOTHING : html` value="${state?.typed?.[name] ?? ''}"`;
  return html`<p class="field"><label for="${name}">${words['label'] ?? name}</label>
<input id="${name}" name="${name}" type="${type}" autocomplete="${autocomplete}" autocapitalize="none" spellcheck="false" required${mode}${value}${described}>
${said === undefined ? NOTHING : html`<span class="problem" id="${name}-problem">${said}</span>`}</p>`;
};

const formOf = ({ name, to, site }: Shown, form: string): Html =>
  html`<form method="post" action="${pathIn(site, pathOf(name, form))}" data-form="${form}">
<input type="hidden" name="once" value="${randomBytes(18).toString('base64url')}">
${to === undefined ? NOTHING : html`<input type="hidden" name="to" value="${to}">`}`;

const linkOf = ({ site, to }: Shown, page: string): string => {
  const { path } = PAGES[page as PageName];
  return pathIn(site, path) + (to === undefined ? '' : `?${new URLSearchParams({ to })}`);
};

type Listed = { readonly id: string; readonly name: string | null; readonly lastUsedAt: number; readonly current: boolean };

const LISTS: Readonly<Record<string, (shown: Shown) => Html>> = {
  sessions: (shown) => {
    const sessions = (shown.payloads['sessions'] ?? []) as readonly Listed[];
    const { common } = shown.texts;
    return html`<ul>${sessions.map(
      ({ id, name, current }) => html`<li>${name ?? '?'} ${current ? html`(${common['current'] ?? ''})` : NOTHING}
${formOf(shown, 'session')}<input type="hidden" name="id" value="${id}"><button class="second">${common['end'] ?? ''}</button></form></li>`,
    )}</ul>
${formOf(shown, 'sessions')}<input type="hidden" name="except" value="current"><button class="second">${common['endOthers'] ?? ''}</button></form>`;
  },
};

const valueOf = (shown: Shown, variable: string): Html | string => {
  const [kind = '', name = ''] = variable.split('.');
  const words = shown.texts.pages[shown.name] ?? {};
  if (kind === 'title') return words['title'] ?? '';
  if (kind === 'alert') return alertOf(shown);
  if (kind === 'text') return words[name] ?? '';
  if (kind === 'field') return fieldOf(shown, camel(name));
  if (kind === 'form') return formOf(shown, name);
  if (kind === 'link') return linkOf(shown, name);
  return LISTS[name]?.(shown) ?? '';
};

export const userPages = (site: UserSite, texts: (locale: string) => UserTexts, templates = builtInTemplates()) => {
  return (content: PageContent, locale: string): string => {
    const shown: Shown = { ...content, site, locale, texts: texts(locale) };
    const main = fill(templates.get(content.name) ?? '', (variable) => valueOf(shown, variable));
    const title = shown.texts.pages[content.name]?.['title'] ?? '';
    const { name, logoUrl } = site.brand;
    const around: Readonly<Record<string, Html | string>> = {
      content: new Html(main),
      title,
      brand: name,
      locale,
      dir: 'ltr',
      icon: pathIn(site, '/icon.svg'),
      stylesheet: pathIn(site, '/pages.css'),
      script: '',
      logo: logoUrl === null ? name : html`<img src="${logoUrl}" alt="${name}">`,
    };
    return fill(templates.get('layout') ?? '', (variable) => around[variable] ?? '');
  };
};
