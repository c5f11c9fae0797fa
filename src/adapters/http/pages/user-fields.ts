import { filledText, Html, html, NO_HTML } from '../../../application/templates.ts';
import { USERNAME_PATTERN } from '../../../domain/user.ts';
import type { Requirement } from '../flow/rows.ts';
import { type Form, PAGES } from '../forms/flow.ts';
import { hasForm, linkOf, type PageView, type Texts } from './page-view.ts';

/** Fields that forms show, by the member of the request; `new-password` in a registration. `isForgettable`: a link beside it leads to a new password. */
export const FIELDS: Readonly<
  Record<string, { readonly type: string; readonly attributes?: string; readonly isForgettable?: true }>
> = {
  account: { type: 'text', attributes: 'autocomplete="username webauthn" autocapitalize="none" spellcheck="false"' },
  username: { type: 'text', attributes: 'autocomplete="username" autocapitalize="none" spellcheck="false"' },
  email: { type: 'email', attributes: 'autocomplete="email"' },
  password: { type: 'password', attributes: 'autocomplete="current-password"', isForgettable: true },
  'new-password': { type: 'password', attributes: 'autocomplete="new-password"' },
  currentPassword: { type: 'password', attributes: 'autocomplete="current-password"', isForgettable: true },
  newPassword: { type: 'password', attributes: 'autocomplete="new-password"' },
  // Not a number, since a code may begin with 0. The length has no limit, since apps show codes with blanks.
  code: { type: 'text', attributes: 'autocomplete="one-time-code" inputmode="numeric"' },
  mailCode: { type: 'text', attributes: 'autocomplete="one-time-code" inputmode="numeric"' },
  recoveryCode: { type: 'text', attributes: 'autocomplete="off" autocapitalize="characters" spellcheck="false"' },
  token: { type: 'text', attributes: 'autocomplete="off" autocapitalize="none" spellcheck="false" data-token' },
  invitation: { type: 'text', attributes: 'autocomplete="off" autocapitalize="none" spellcheck="false" data-token' },
  locale: { type: 'select', attributes: 'autocomplete="language"' },
  name: { type: 'text', attributes: 'autocomplete="off"' },
  remember: { type: 'checkbox' },
};

const UNTYPED_FIELDS = ['token', 'invitation', 'credential', 'remember'];

/** The state of the page, if it is about this form. In a list, each item has a form of the same name: the `id` tells them apart. */
const formStateOf = ({ state }: PageView, form: string, { id }: Texts): PageView['state'] =>
  state?.form === form && (id === undefined || state.typed?.id === id) ? state : null;

/** Whether a folded form is open: it was refused, or the state has texts for it, for example after a step-up. */
export const isUnfolded = (view: PageView, form: string, values: Texts): boolean => {
  const { error, typed = {} } = formStateOf(view, form, values) ?? {};
  return error !== undefined || Object.keys(typed).length > 0;
};

export const requirementOf = (view: PageView, form: string, field: string): Requirement =>
  PAGES[view.name].forms[form]?.requirements?.[field]?.(view) ?? 'required';

/** The name of a language in this language. `Intl` throws for some tags with extensions: the tag itself stands for its name. */
export const languageName = (tag: string): string => {
  try {
    return new Intl.DisplayNames([tag], { type: 'language' }).of(tag) ?? tag;
  } catch {
    return tag;
  }
};

const localesOf = ({ locales, locale }: PageView, chosenLocale: string): Html => {
  const listedLocales = new Set([...locales, ...(chosenLocale === '' ? [] : [chosenLocale])]);
  return html`${[...listedLocales].map((each) => {
    const selected = each === (chosenLocale || locale) ? html` selected` : NO_HTML;
    return html`<option value="${each}" lang="${each}"${selected}>${languageName(each)}</option>\n`;
  })}`;
};

/** The field with the focus: after an error, one of the form that failed; otherwise one of the first form, and on pages of the account none. */
const focusedField = (view: PageView, form: string, formState: PageView['state']): string | undefined => {
  const { name, state } = view;
  const { forms, path } = PAGES[name];
  const isFirst =
    form === Object.keys(forms).find((each) => hasForm(view, each)) && !path.startsWith(PAGES.account.path);
  if (state?.error === undefined ? !isFirst : formState === null) return undefined;
  const fields = (forms[form] as Form).fields.filter(
    (field) => !UNTYPED_FIELDS.includes(field) && requirementOf(view, form, field) !== 'left-out',
  );
  return (
    fields.find((field) => state?.error?.fields.some((each) => each.field === field)) ??
    fields.find((field) => state?.typed?.[field] === undefined) ??
    fields[0]
  );
};

const withLength = ({ minPasswordLength }: PageView, text: string): string =>
  text.replace('{min}', `${minPasswordLength}`);

/** The text about a problem of a field. About a username of the wrong form, it may name the first character that is not allowed. */
const problemOf = (view: PageView, field: string, code: string, typed: string, texts: Texts): string => {
  const isMalformedUsername = field === 'username' && code === 'invalid_format';
  const character = isMalformedUsername ? [...typed.trim()].find((each) => !USERNAME_PATTERN.test(each)) : undefined;
  if (character === undefined) return withLength(view, texts[code] ?? texts.other ?? '');
  return character.trim() === '' ? (texts.blank ?? '') : filledText(texts.character ?? '', () => character);
};

export const fieldOf = (view: PageView, form: string, name: string, values: Texts): Html => {
  const { texts, name: page } = view;
  const formState = formStateOf(view, form, values);
  const isRegistration = PAGES[page].registers !== undefined;
  const { type, attributes, isForgettable } = FIELDS[isRegistration ? `new-${name}` : name] ??
    FIELDS[name] ?? { type: 'hidden' };
  if (type === 'hidden') return html`<input type="hidden" name="${name}" value="${values[name] ?? ''}">\n`;
  const fieldTexts = texts.fields[`${page}.${name}`] ?? texts.fields[name] ?? {};
  const { label = name, or = label, hint: fieldHint, ...problemTexts } = fieldTexts;
  if (requirementOf(view, form, name) === 'typed')
    return typedFieldOf(view, name, label, (formState?.typed?.[name] ?? '').trim());
  const rules = isRegistration && name === 'password' ? texts.fields.newPassword?.hint : fieldHint;
  const isOptional = requirementOf(view, form, name) === 'optional';
  const optionalHint = isOptional ? texts.pages[page]?.[`no-${name}`] : undefined;
  const hint =
    optionalHint === undefined ? rules : [optionalHint, rules].filter((each) => each !== undefined).join(' ');
  const id = [form, values.id ?? [], name].flat().join('-');
  if (type === 'checkbox')
    return html`<p class="check"><label><input type="checkbox" name="${name}"${formState?.typed?.[name] === 'on' ? html` checked` : NO_HTML}> ${label}</label></p>\n`;
  const problem = formState?.error?.fields.find(({ field }) => field === name);
  const problemText = problem && problemOf(view, name, problem.code, formState?.typed?.[name] ?? '', problemTexts);
  const hasFocus = name === focusedField(view, form, formState);
  // Screen readers read the elements with these ids out when the field gets the focus.
  const ids = [
    ...(hasFocus && formState?.error !== undefined ? ['alert'] : []),
    ...(hint === undefined ? [] : [`${id}-hint`]),
    ...(problemText === undefined ? [] : [`${id}-problem`]),
  ];
  const describedBy = ids.length === 0 ? NO_HTML : html` aria-describedby="${ids.join(' ')}"`;
  const invalidAttribute = problemText === undefined ? NO_HTML : html` aria-invalid="true"`;
  const text = formState?.typed?.[name] ?? values[name] ?? '';
  const valueAttribute = type === 'password' ? NO_HTML : html` value="${text}"`;
  const requiredAttribute = isOptional ? NO_HTML : html` required`;
  const commonAttributes = html`id="${id}" name="${name}" ${new Html(attributes ?? '')}${requiredAttribute}${hasFocus ? html` autofocus` : NO_HTML}${describedBy}${invalidAttribute}`;
  const control =
    type === 'select'
      ? html`<select ${commonAttributes}>\n${localesOf(view, text)}</select>`
      : html`<input ${commonAttributes} type="${type}" dir="${name === 'name' ? 'auto' : 'ltr'}"${valueAttribute}>`;
  return html`<p class="field"><label for="${id}">${isOptional ? or : label}</label>
${hint === undefined ? NO_HTML : html`<span class="rules" id="${id}-hint">${withLength(view, hint)}</span>\n`}${control}
${problemText === undefined ? NO_HTML : html`<span class="problem" id="${id}-problem">${problemText}</span>\n`}${isForgettable ? forgotLink(view) : NO_HTML}</p>
`;
};

/** Shows the account that the user has typed, with a link to change it. The hidden field sends it, and tells it to password managers. */
const typedFieldOf = (view: PageView, name: string, label: string, text: string): Html =>
  html`<p class="field"><strong>${text}</strong> <a class="beside" href="${linkOf(view, view.name)}" aria-label="${view.texts.common.change ?? ''}: ${label}">${view.texts.common.change ?? ''}</a></p>
<input type="text" name="${name}" autocomplete="username" value="${text}" readonly hidden>\n`;

/** The stylesheet shows the link beside the label. In the markup, it follows the field, so that the Tab key reaches the field first. */
const forgotLink = (view: PageView): Html =>
  view.pages.has('forgot')
    ? html`<a class="beside" href="${linkOf(view, 'forgot')}">${view.texts.common.forgot ?? ''}</a>`
    : NO_HTML;
