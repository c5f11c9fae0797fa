import { type Html, html, NO_HTML } from '../../../../application/templates.ts';
import { type PageView, USERNAME } from './view.ts';

/** The fields of forms, by the member of the request. `flag`: a checkbox. */
const FIELDS: Readonly<Record<string, { readonly label: string; readonly type: 'text' | 'email' | 'flag' | 'json' }>> =
  {
    reason: { label: 'Reason, which the users can read', type: 'text' },
    email: { label: 'Email address', type: 'email' },
    emailVerified: { label: 'I know that the address is theirs', type: 'flag' },
    final: { label: 'Somebody else had taken the account: it goes back to its owner', type: 'flag' },
    handOver: { label: 'Show it here, to hand over: using it does not prove the address', type: 'flag' },
    sendLink: { label: 'Send a mail with a link', type: 'flag' },
    attributes: { label: 'Attributes, as JSON', type: 'json' },
  };

/** The initial values of the fields, and the name of the user whom the form is about. */
type Prefill = { readonly values?: Readonly<Record<string, string>>; readonly username?: string };

const isRefused = ({ outcome }: PageView, name: string): boolean => outcome?.form === name && outcome.problems !== null;

/** Forms that unfold below their names, so that a single click does nothing. A form that was refused is unfolded. */
export const foldedForms = (view: PageView, names: readonly string[], prefill?: Prefill): readonly Html[] =>
  names.map((name) => {
    const form = view.forms.get(name);
    if (form === undefined) return NO_HTML;
    const isFinal = form.confirm !== undefined;
    return html`<details${isRefused(view, name) ? html` open` : NO_HTML}${isFinal ? html` class="danger"` : NO_HTML}><summary>${form.button}</summary>
<p>${form.text}</p>
${formOf(view, name, prefill)}</details>
`;
  });

/** A form of one button for an item of a list. A hidden field tells which item it is. */
export const buttonOf = (view: PageView, name: string, field: string, value: string): Html => {
  const form = view.forms.get(name);
  const hidden = { once: view.once, [field]: value };
  return form === undefined
    ? NO_HTML
    : html`<form method="post" action="${form.action}" class="inline">${hiddenFields(hidden)}<button>${form.button}</button></form>`;
};

const hiddenFields = (values: Readonly<Record<string, string>>): readonly Html[] =>
  Object.entries(values).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`);

const formOf = (view: PageView, name: string, { values = {}, username = '' }: Prefill = {}): Html => {
  const form = view.forms.get(name);
  if (form === undefined) return NO_HTML;
  const { button, members, confirm, action } = form;
  const typed = isRefused(view, name) ? view.outcome?.typed : undefined;
  const fields = Object.entries(FIELDS).filter(([field]) => members.includes(field));
  const word = confirm === USERNAME ? username : confirm;
  const confirmField = word === undefined ? [] : [['confirm', { label: `Type “${word}”`, type: 'text' }] as const];
  return html`<form method="post" action="${action}">
${hiddenFields({ once: view.once })}
${[...fields, ...confirmField].map(([field, { label, type }]) => {
  const id = `${name}-${field}`;
  const common = html`id="${id}" name="${field}"${typed === undefined ? NO_HTML : html` aria-describedby="alert"`}`;
  const value = (typed ?? values)[field] ?? '';
  if (type === 'flag')
    return html`<p class="check"><input ${common} type="checkbox"${value === 'on' ? html` checked` : NO_HTML}> <label for="${id}">${label}</label></p>\n`;
  return type === 'json'
    ? html`<p><label for="${id}">${label}</label><textarea ${common} rows="3" spellcheck="false">${value}</textarea></p>\n`
    : html`<p><label for="${id}">${label}</label><input ${common} type="${type}" value="${value}" autocomplete="off"${field === 'reason' ? html` maxlength="200"` : html` required`}></p>\n`;
})}<button>${button}</button></form>
`;
};
