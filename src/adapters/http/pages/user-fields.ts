import { filledText, Html, html, NOTHING } from '../../../application/templates.ts';
import { USERNAME_PATTERN } from '../../../domain/user.ts';
import type { Requirement } from '../flow/rows.ts';
import { type Form, PAGES } from '../forms/flow.ts';
import { isOffered, linkOf, type PageView, type Texts } from './page-view.ts';

/** The fields of forms, by the member of the request. `known`: a present password, which may be forgotten. */
export const FIELDS: Readonly<
  Record<string, { readonly type: string; readonly attributes?: string; readonly known?: true }>
> = {
  account: { type: 'text', attributes: 'autocomplete="username webauthn" autocapitalize="none" spellcheck="false"' },
  username: { type: 'text', attributes: 'autocomplete="username" autocapitalize="none" spellcheck="false"' },
  email: { type: 'email', attributes: 'autocomplete="email"' },
  password: { type: 'password', attributes: 'autocomplete="current-password"', known: true },
  'new-password': { type: 'password', attributes: 'autocomplete="new-password"' },
  currentPassword: { type: 'password', attributes: 'autocomplete="current-password"', known: true },
  newPassword: { type: 'password', attributes: 'autocomplete="new-password"' },
  // Neither a number, since it may begin with 0, nor limited to six characters, since apps show blanks.
  code: { type: 'text', attributes: 'autocomplete="one-time-code" inputmode="numeric"' },
  mailCode: { type: 'text', attributes: 'autocomplete="one-time-code" inputmode="numeric"' },
  recoveryCode: { type: 'text', attributes: 'autocomplete="off" autocapitalize="characters" spellcheck="false"' },
  token: { type: 'text', attributes: 'autocomplete="off" autocapitalize="none" spellcheck="false" data-token' },
  invitation: { type: 'text', attributes: 'autocomplete="off" autocapitalize="none" spellcheck="false" data-token' },
  locale: { type: 'select', attributes: 'autocomplete="language"' },
  name: { type: 'text', attributes: 'autocomplete="off"' },
  remember: { type: 'checkbox' },
};

const NOT_TYPED = ['token', 'invitation', 'credential', 'remember'];

/** The state of the page, if it is of this form. A list has the same form for each of its items. */
const stateOf = ({ state }: PageView, form: string, { id }: Texts): PageView['state'] =>
  state?.form === form && (id === undefined || state.typed?.id === id) ? state : null;

/** Whether the user has to send the form again: it was refused, or another of its buttons was pressed. */
export const hasToBeSent = (shown: PageView, form: string, values: Texts): boolean => {
  const { error, typed = {} } = stateOf(shown, form, values) ?? {};
  return error !== undefined || Object.keys(typed).length > 0;
};

export const requirementOf = (shown: PageView, form: string, field: string): Requirement =>
  PAGES[shown.name].forms[form]?.requirements?.[field]?.(shown) ?? 'required';

/** The name of a language in itself. Tags with extensions have none. */
export const languageName = (tag: string): string => {
  try {
    return new Intl.DisplayNames([tag], { type: 'language' }).of(tag) ?? tag;
  } catch {
    return tag;
  }
};

const localesOf = ({ locales, locale }: PageView, chosen: string): Html => {
  const offered = new Set([...locales, ...(chosen === '' ? [] : [chosen])]);
  return html`${[...offered].map((each) => {
    const selected = each === (chosen || locale) ? html` selected` : NOTHING;
    return html`<option value="${each}" lang="${each}"${selected}>${languageName(each)}</option>\n`;
  })}`;
};

/** The field that has the focus: after an error, the first one that is wrong or empty. Pages of the account have none at first. */
const nextField = (shown: PageView, form: string, sent: PageView['state']): string | undefined => {
  const { name, state } = shown;
  const { forms, path } = PAGES[name];
  const isFirst =
    form === Object.keys(forms).find((each) => isOffered(shown, each)) && !path.startsWith(PAGES.account.path);
  if (state?.error === undefined ? !isFirst : sent === null) return undefined;
  const fields = (forms[form] as Form).fields.filter(
    (field) => !NOT_TYPED.includes(field) && requirementOf(shown, form, field) !== 'left-out',
  );
  return (
    fields.find((field) => state?.error?.fields.some((each) => each.field === field)) ??
    fields.find((field) => state?.typed?.[field] === undefined) ??
    fields[0]
  );
};

const withLength = ({ minLength }: PageView, text: string): string => text.replace('{min}', `${minLength}`);

/** Names the first character that cannot be in a username, or says which rule a field breaks. */
const problemOf = (shown: PageView, field: string, code: string, typed: string, words: Texts): string => {
  const isName = field === 'username' && code === 'invalid_format';
  const character = isName ? [...typed.trim()].find((each) => !USERNAME_PATTERN.test(each)) : undefined;
  if (character === undefined) return withLength(shown, words[code] ?? words.other ?? '');
  return character.trim() === '' ? (words.blank ?? '') : filledText(words.character ?? '', () => character);
};

export const fieldOf = (shown: PageView, form: string, name: string, values: Texts): Html => {
  const { texts, name: page } = shown;
  const sent = stateOf(shown, form, values);
  const isNew = PAGES[page].registers !== undefined;
  const { type, attributes, known } = FIELDS[isNew ? `new-${name}` : name] ?? FIELDS[name] ?? { type: 'hidden' };
  if (type === 'hidden') return html`<input type="hidden" name="${name}" value="${values[name] ?? ''}">\n`;
  const { label = name, or = label, hint: own, ...words } = texts.fields[`${page}.${name}`] ?? texts.fields[name] ?? {};
  if (requirementOf(shown, form, name) === 'given')
    return givenOf(shown, name, label, (sent?.typed?.[name] ?? '').trim());
  const rules = isNew && name === 'password' ? texts.fields.newPassword?.hint : own;
  const isOptional = requirementOf(shown, form, name) === 'optional';
  const without = isOptional ? texts.pages[page]?.[`no-${name}`] : undefined;
  const hint = without === undefined ? rules : [without, rules].filter((each) => each !== undefined).join(' ');
  const id = [form, values.id ?? [], name].flat().join('-');
  if (type === 'checkbox')
    return html`<p class="check"><label><input type="checkbox" name="${name}"${sent?.typed?.[name] === 'on' ? html` checked` : NOTHING}> ${label}</label></p>\n`;
  const problem = sent?.error?.fields.find(({ field }) => field === name);
  const said = problem && problemOf(shown, name, problem.code, sent?.typed?.[name] ?? '', words);
  const isNext = name === nextField(shown, form, sent);
  // Screen readers read these out with the field that has the focus.
  const ids = [
    ...(isNext && sent?.error !== undefined ? ['alert'] : []),
    ...(hint === undefined ? [] : [`${id}-hint`]),
    ...(said === undefined ? [] : [`${id}-problem`]),
  ];
  const described = ids.length === 0 ? NOTHING : html` aria-describedby="${ids.join(' ')}"`;
  const invalid = said === undefined ? NOTHING : html` aria-invalid="true"`;
  const text = sent?.typed?.[name] ?? values[name] ?? '';
  const filled = type === 'password' ? NOTHING : html` value="${text}"`;
  const required = isOptional ? NOTHING : html` required`;
  const common = html`id="${id}" name="${name}" ${new Html(attributes ?? '')}${required}${isNext ? html` autofocus` : NOTHING}${described}${invalid}`;
  const control =
    type === 'select'
      ? html`<select ${common}>\n${localesOf(shown, text)}</select>`
      : html`<input ${common} type="${type}" dir="${name === 'name' ? 'auto' : 'ltr'}"${filled}>`;
  return html`<p class="field"><label for="${id}">${isOptional ? or : label}</label>
${hint === undefined ? NOTHING : html`<span class="rules" id="${id}-hint">${withLength(shown, hint)}</span>\n`}${control}
${said === undefined ? NOTHING : html`<span class="problem" id="${id}-problem">${said}</span>\n`}${known ? forgotten(shown) : NOTHING}</p>
`;
};

/** The hidden field is for password managers, too. */
const givenOf = (shown: PageView, name: string, label: string, text: string): Html =>
  html`<p class="field"><strong>${text}</strong> <a class="beside" href="${linkOf(shown, shown.name)}" aria-label="${shown.texts.common.change ?? ''}: ${label}">${shown.texts.common.change ?? ''}</a></p>
<input type="text" name="${name}" autocomplete="username" value="${text}" readonly hidden>\n`;

/** The style shows it beside the label. With the keyboard, it comes after the field. */
const forgotten = (shown: PageView): Html =>
  shown.pages.has('forgot')
    ? html`<a class="beside" href="${linkOf(shown, 'forgot')}">${shown.texts.common.forgot ?? ''}</a>`
    : NOTHING;
