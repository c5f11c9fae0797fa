import { Html, html, NOTHING } from '../../../application/html.ts';
import { type Form, PAGES, type Page, type PageName, pathOf } from '../forms/flow.ts';
import type { PageContent } from '../forms/page-routes.ts';
import { pathIn, type UserSite } from './layout.ts';
import { FIELDS } from './user-fields.ts';
import { isOffered, LISTS, withIds } from './user-lists.ts';

/**
 * The pages for users: templates of files, which have variables and no logic (docs/mail-and-pages.md). `{{text.…}}` is a text, `{{link.…}}` the
 * address of a page, `{{form.…}}` a whole form, `{{list.…}}` what the account has. ADR 0024.
 */

/** Everything that the pages say in one language, by what it is for. */
export type UserTexts = {
  readonly direction: string;
  readonly common: Texts;
  readonly errors: Texts;
  readonly notices: Texts;
  readonly buttons: Texts;
  readonly fields: Readonly<Record<string, Texts>>;
  readonly pages: Readonly<Record<string, Texts>>;
};
type Texts = Readonly<Record<string, string>>;

/** A page with all that its variables need. */
export type Shown = PageContent & {
  /** Tells a second click on a form from a second attempt. */
  readonly once: string;
  /** The names of the pages that there are. */
  readonly pages: ReadonlySet<string>;
  /** The origin of the application to which the pages lead back; `null`: not known. */
  readonly application: string | null;
  readonly texts: UserTexts;
  readonly site: UserSite;
  readonly locale: string;
};

const VARIABLE = /\{\{([\w.-]+)\}\}/g;

const fill = (template: string, valueOf: (name: string) => Html | string): string =>
  template.replaceAll(VARIABLE, (_all, name: string) => html`${valueOf(name)}`.text);

const alertOf = ({ state, texts }: Shown): Html => {
  const { error, notice } = state ?? {};
  if (notice !== undefined) return html`<p role="status" class="done">${texts.notices[notice] ?? ''}</p>`;
  if (error === undefined) return NOTHING;
  const text = texts.errors[error.code] ?? texts.errors.other ?? '';
  const wait = (texts.common['try-again'] ?? '').replace('{seconds}', `${error.retryAfter}`);
  return html`<p role="alert" class="failed">${text}${error.retryAfter === undefined ? '' : ` ${wait}`}</p>`;
};

/** What is typed into a field, with what was wrong with it. `new`: of an account or a password that the form makes. */
const fieldOf = ({ state, texts, name: page }: Shown, form: string, name: string, value: string): Html => {
  const { type, attributes } = FIELDS[page === 'register' ? `new-${name}` : name] ?? FIELDS[name] ?? { type: 'hidden' };
  if (type === 'hidden') return html`<input type="hidden" name="${name}" value="${value}">\n`;
  const { label = name, hint, ...words } = texts.fields[name] ?? {};
  const id = `${form}-${name}`;
  if (type === 'checkbox')
    return html`<p class="check"><label><input type="checkbox" name="${name}"> ${label}</label></p>\n`;
  const problem = state?.form === form ? state.error?.fields.find(({ field }) => field === name) : undefined;
  const said = problem && (words[problem.code] ?? words.other ?? '');
  const ids = [...(hint === undefined ? [] : [`${id}-hint`]), ...(said === undefined ? [] : [`${id}-problem`])];
  const described = ids.length === 0 ? NOTHING : html` aria-describedby="${ids.join(' ')}"`;
  const invalid = said === undefined ? NOTHING : html` aria-invalid="true"`;
  const typed = state?.form === form ? state.typed?.[name] : undefined;
  const filled = type === 'password' ? NOTHING : html` value="${typed ?? value}"`;
  return html`<p class="field"><label for="${id}">${label}</label>
${hint === undefined ? NOTHING : html`<span class="rules" id="${id}-hint">${hint}</span>\n`}<input id="${id}" name="${name}" type="${type}" ${new Html(attributes ?? '')} required${described}${invalid}${filled}>
${said === undefined ? NOTHING : html`<span class="problem" id="${id}-problem">${said}</span>`}</p>
`;
};

/** What the script does for a form. Without it, a form for a passkey is not there. */
const scriptOf = ({ name: page, payloads, state }: Shown, name: string, { fields, submits }: Form): Html => {
  const proves = ['login', 'passkey-login', 'register', 'second-factor', 'step-up', 'refresh'].includes(submits);
  const again = state?.error?.code === 'AUTH_PROOF_EXPIRED' ? 'again' : '';
  const options = page === 'factors' ? ['creates', payloads['passkey-options']] : ['options', pendingPasskey(payloads)];
  const [kind, json] = fields.includes('credential') ? options : ['', undefined];
  return html`${proves ? html` data-proves="${again}"` : NOTHING}${
    fields.includes('credential') ? html` hidden data-passkey` : NOTHING
  }${json ? html` data-${`${kind}`}="${JSON.stringify(json)}"` : NOTHING}${
    page === 'log-in' && name === 'passkey' ? html` data-autofill` : NOTHING
  }${page === 'prove' && state?.error === undefined ? html` data-at-once` : NOTHING}`;
};

const pendingPasskey = (payloads: Shown['payloads']): unknown =>
  (payloads['pending-login'] as { readonly passkey?: unknown } | undefined)?.passkey;

/** A visitor who is logged in need not type the password. */
const isNeedless = ({ name, isVisitor }: Shown, field: string): boolean =>
  name === 'email-change' && field === 'password' && isVisitor;

/** A form with its fields and its button. @param values of its fields, and of hidden ones. */
export const formOf = (shown: Shown, name: string, values: Texts = {}): Html => {
  const form = (PAGES[shown.name] as Page).forms[name] as Form;
  const { to, site, texts } = shown;
  const hidden = Object.entries({ once: shown.once, ...(to !== undefined && { to }), ...values });
  return html`<form method="post" action="${pathIn(site, pathOf(shown.name, name))}" ${scriptOf(shown, name, form)}>
${hidden.filter(([each]) => !form.fields.includes(each)).map(([each, value]) => html`<input type="hidden" name="${each}" value="${value}">\n`)}${form.fields.filter((field) => !isNeedless(shown, field)).map((field) => fieldOf(shown, name, field, values[field] ?? ''))}<button>${texts.buttons[`${shown.name}.${name}`] ?? ''}</button>
</form>`;
};

const linkOf = ({ site, to, pages, application }: Shown, name: string): string => {
  if (name === 'target') return to ?? pathIn(site, PAGES.account.path);
  if (name === 'application') return application ?? pathIn(site, '/');
  if (name === 'export') return pathIn(site, '/auth/account/export');
  // Without the pages for log-ins, those of links lead back to the application.
  if (!pages.has(name)) return application ?? pathIn(site, '/');
  return pathIn(site, PAGES[name as PageName].path) + (to === undefined ? '' : `?${new URLSearchParams({ to })}`);
};

const valueOf = (shown: Shown, variable: string): Html | string => {
  const [kind = '', name = ''] = variable.split('.');
  if (kind === 'form') return isOffered(shown, name) ? formOf(shown, name, withIds(shown, name)) : NOTHING;
  if (kind === 'list') return LISTS[name]?.(shown) ?? NOTHING;
  if (kind === 'link') return linkOf(shown, name);
  return shown.texts.pages[shown.name]?.[kind === 'text' ? name : kind] ?? '';
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
  const main = fill(template(name), (variable) => (variable === 'title' ? title : valueOf(shown, variable)));
  const head = html`<link rel="icon" href="${pathIn(site, '/icon.svg')}" type="image/svg+xml">
<link rel="stylesheet" href="${pathIn(site, '/pages.css')}">
<script type="module" src="${pathIn(site, '/user-pages.js')}"></script>`;
  const logo = brand.logoUrl === null ? brand.name : html`<img src="${brand.logoUrl}" alt="${brand.name}">`;
  const around: Readonly<Record<string, Html | string>> = {
    ...{ title, head, logo, locale, direction: texts.direction, brand: brand.name },
    ...{ alert: alertOf(shown), content: new Html(main) },
    ...{ 'show-password': texts.common['show-password'] ?? '', strength: texts.common.strength ?? '' },
  };
  return fill(template('layout'), (variable) => around[variable] ?? '');
};
