import { filledText, Html, html, NOTHING } from '../../../application/templates.ts';
import { hasPasskeys } from '../flow/rows.ts';
import { type Form, PAGES, pathOf, takesProof, usedAs } from '../forms/flow.ts';
import { pathIn } from './layout.ts';
import { isOffered, type PageView, type Texts, targetIn } from './page-view.ts';
import { FIELDS, fieldOf, hasToBeSent, languageName, requirementOf } from './user-fields.ts';

/** Icons of buttons, of 24 × 24, by the names of providers in OIDC_PROVIDERS: in the colour of the text, or in those that the provider demands. */
const PROVIDERS: Readonly<Record<string, string>> = {
  google:
    '<g stroke="none"><path fill="#4285f4" d="M22.6 12.3c0-.8-.1-1.5-.2-2.3H12v4.3h5.9c-.3 1.4-1 2.5-2.2 3.3v2.8h3.6c2.1-2 3.3-4.8 3.3-8.1z"/><path fill="#34a853" d="M12 23c3 0 5.5-1 7.3-2.6l-3.6-2.8c-1 .7-2.2 1-3.7 1-2.9 0-5.3-1.9-6.2-4.5H2.2v2.8C4 20.5 7.7 23 12 23z"/><path fill="#fbbc05" d="M5.8 14.1a6.6 6.6 0 0 1 0-4.2V7.1H2.2a11 11 0 0 0 0 9.8z"/><path fill="#ea4335" d="M12 5.4c1.6 0 3.1.6 4.2 1.6l3.2-3.1A11 11 0 0 0 2.2 7.1l3.6 2.8c.9-2.6 3.3-4.5 6.2-4.5z"/></g>',
  microsoft:
    '<g stroke="none"><path fill="#f25022" d="M3.5 3.5h8v8h-8z"/><path fill="#7fba00" d="M12.5 3.5h8v8h-8z"/><path fill="#00a4ef" d="M3.5 12.5h8v8h-8z"/><path fill="#ffb900" d="M12.5 12.5h8v8h-8z"/></g>',
  apple:
    '<path d="M12 7.8c-3.1-1.8-7.3-.3-7.3 4.7 0 4 2.4 8.3 4.7 8.3 1 0 1.5-.6 2.6-.6s1.6.6 2.6.6c1.9 0 3.6-2.3 4.5-5-3.3-1.4-3.4-5.7-.3-7.3-1.6-2.1-4.5-2.1-6.8-.7zm0-1.6c.1-2.2 1.4-3.7 3.5-4 .1 2.2-1.4 3.9-3.5 4z" fill="currentColor" stroke="none"/>',
  github:
    '<path d="M4.6 3.5c1.6.1 3 .8 4.1 1.6a12 12 0 0 1 6.6 0c1.1-.8 2.5-1.5 4.1-1.6.6 1.6.5 3 .2 4 .9 1.1 1.4 2.4 1.4 3.8 0 4.5-3.4 6.1-6 6.5.6.7 1 1.6 1 2.7v1.5H8V20.5c0-1.1.4-2 1-2.7-2.6-.4-6-2-6-6.5 0-1.4.5-2.7 1.4-3.8-.3-1-.4-2.4.2-4z" fill="currentColor" stroke="none"/>',
};
const OTHER_PROVIDER = '<path d="M10 4h9.5v16H10M4 12h10.5m-4-4 4 4-4 4"/>';
const PASSKEY = '<circle cx="8" cy="15.5" r="4.5"/><path d="m11.2 12.3 8.8-8.8m-4 4 3 3"/>';

const drawn = (shape: string): Html =>
  new Html(
    `<svg viewBox="0 0 24 24" width="20" height="20" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" stroke-linejoin="round">${shape}</svg>`,
  );

/** A hidden field with the name of the account beside its password, for password managers. */
const nameBeside = ({ payloads }: PageView, { fields, preview }: Form): Html => {
  const { username } = payloads['current-user'] ?? {};
  if (!fields.some((field) => FIELDS[field]?.type === 'password')) return NOTHING;
  if (username === undefined && preview === undefined) return NOTHING;
  const told = preview === undefined ? NOTHING : html` data-told="username"`;
  return html`<input type="text" autocomplete="username" value="${username ?? ''}"${told} readonly hidden>\n`;
};

/** Sentences about the account of a link's token. The script fills in the answer of the preview, and shows them. */
const toldOf = ({ texts, name }: PageView, { preview }: Form): Html => {
  const told = preview === undefined ? [] : ['whose', 'undo'].flatMap((each) => texts.pages[name]?.[each] ?? []);
  return html`${told.map((text) => html`<p hidden>${text.split(/(\{\w+\})/).map(placeOf)}</p>\n`)}`;
};

const placeOf = (part: string): Html => {
  const [, member] = /^\{(\w+)\}$/.exec(part) ?? [];
  if (member === undefined) return html`${part}`;
  return member === 'username'
    ? html`<strong data-told="username"></strong>`
    : html`<time data-told="${member}"></time>`;
};

/** Where a success leads that offers a passkey. */
const offerOf = (shown: PageView, { offersPasskey }: Form): Html =>
  // There is no offer on the way to a page of the service.
  !offersPasskey?.(shown) || shown.to?.startsWith('/')
    ? NOTHING
    : html` data-offers="${pathIn(shown.site, PAGES['new-passkey'].path)}${targetIn(shown)}"`;

/** Attributes for the script. Without the script, a form for a passkey stays hidden. */
const scriptOf = (shown: PageView, form: Form): Html => {
  const { name: page, payloads, state, now, site, texts, elsewhere } = shown;
  const { fields, preview } = form;
  const created = payloads['passkey-options'];
  const options = created === undefined ? ['options', payloads['pending-login']?.passkey] : ['creates', created];
  const [kind, json] = fields.includes('credential') ? options : ['', undefined];
  const { allAcceptedCredentialIds: accepted } = (state?.payload ?? {}) as Partial<Readonly<Record<string, unknown>>>;
  return html`${takesProof(form) ? html` data-proves="${`${now}`}"` : NOTHING}${
    fields.includes('credential') ? html` hidden data-passkey="${texts.errors['no-passkey'] ?? ''}"` : NOTHING
  }${json ? html` data-${`${kind}`}="${JSON.stringify(json)}"` : NOTHING}${
    kind === 'creates' && accepted ? html` data-accepted="${JSON.stringify(state?.payload)}"` : NOTHING
  }${form.autofill ? html` data-autofill` : NOTHING}${form.silent && state?.error === undefined ? html` data-silent` : NOTHING}${offerOf(shown, form)}${
    form.renames && created && hasPasskeys(shown)
      ? html` data-user="${JSON.stringify({ rp: created.rp, user: created.user })}"`
      : NOTHING
  }${
    PAGES[page].leadsOn === 'when-proven' && state?.error === undefined
      ? html` data-at-once data-elsewhere="${JSON.stringify(elsewhere ?? [])}"`
      : NOTHING
  }${preview === undefined ? NOTHING : html` data-preview="${pathIn(site, preview)}"`}`;
};

const markOf = ({ fields }: Form, { provider }: Texts): Html => {
  if (provider !== undefined) return drawn(PROVIDERS[provider] ?? OTHER_PROVIDER);
  return fields.includes('credential') ? drawn(PASSKEY) : NOTHING;
};

/** @param action its own address, if it is not that of the form */
const buttonOf = (shown: PageView, name: string, values: Texts, item = '', action: Html = NOTHING): Html => {
  const form = PAGES[shown.name].forms[name] as Form;
  const pattern = shown.texts.buttons[`${shown.name}.${name}`] ?? '';
  const text = filledText(pattern, () => item);
  const content = html`${markOf(form, values)}${text}`;
  const label = item === '' || text !== pattern ? NOTHING : html` aria-label="${text}: ${item}"`;
  const uses = form.recalled === true ? [usedAs(name, values.provider)] : (form.recalled ?? []);
  if (!uses.includes(shown.usedLast ?? '')) return html`<button${action}${label}>${content}</button>`;
  return html`<button${action}${label} aria-describedby="used">${content}</button>
<small id="used">${shown.texts.common['used-last'] ?? ''}</small>`;
};

/** Buttons that send the fields of the form to another route. */
const otherButtons = (shown: PageView, form: string): readonly Html[] =>
  Object.entries<Form>(PAGES[shown.name].forms)
    .filter(([name, { buttonOf: owner }]) => owner === form && isOffered(shown, name))
    .map(([name]) => {
      const action = pathIn(shown.site, pathOf(shown.name, name));
      const own = html` formaction="${action}" formnovalidate data-form="${shown.name}.${name}"`;
      return buttonOf(shown, name, {}, '', own);
    });

/** The present value of what a form changes. */
const presentOf = ({ payloads, texts, locale }: PageView, form: string): Html => {
  const { username = '', email = '', emailVerified, locale: own } = payloads['current-user'] ?? {};
  const state = texts.common[emailVerified ? 'confirmed' : 'unconfirmed'] ?? '';
  const words: Readonly<Record<string, Html>> = {
    username: html`<span>${username}</span>`,
    email: html`<span>${email} <small>${state}</small></span>`,
    password: html`<span aria-hidden="true">••••••••</span>`,
    language: html`<span>${languageName(own ?? locale)}</span>`,
  };
  return words[form] ?? NOTHING;
};

/** @param values of fields, and of hidden ones @param item the name of what the form changes, in a list */
export const formOf = (shown: PageView, name: string, values: Texts = {}, item?: string): Html => {
  const form = PAGES[shown.name].forms[name] as Form;
  const { to, site, texts, state } = shown;
  const [action, key] = [pathIn(site, pathOf(shown.name, name)), `${shown.name}.${name}`];
  // Templates may add fields to it (docs/mail-and-pages.md).
  const takesFields = form.submits === 'register';
  const hidden = Object.entries({ once: shown.once, ...(to !== undefined && { to }), ...values });
  const pace = form.paced ? html` class="again${state?.notice === undefined ? '' : ' wait'}"` : NOTHING;
  const isLocked = form.locked?.(shown) === true;
  const isRow = isLocked && form.foldedBehind !== undefined;
  const fields = isLocked ? [] : form.fields.filter((field) => requirementOf(shown, name, field) !== 'left-out');
  const change = texts.common.change ?? '';
  const button = isRow
    ? html`${presentOf(shown, name)} <button aria-label="${change}: ${texts.pages[shown.name]?.[name] ?? ''}">${change}</button>`
    : buttonOf(shown, name, values, item);
  const whole = html`<form method="post" action="${action}" data-form="${key}"${takesFields ? html` id="register"` : NOTHING}${isRow ? html` class="row"` : pace} ${scriptOf(shown, form)}>
${hidden.filter(([each]) => !form.fields.includes(each)).map(([each, value]) => html`<input type="hidden" name="${each}" value="${value}">\n`)}${nameBeside(shown, { ...form, fields })}${toldOf(shown, form)}${fields.map((field) => fieldOf(shown, name, field, values))}${button}${isLocked ? NOTHING : otherButtons(shown, name)}
</form>`;
  if (form.foldedBehind === undefined || isRow) return whole;
  return html`<details${hasToBeSent(shown, name, values) ? html` open` : NOTHING}>
<summary>${presentOf(shown, name)} <span>${texts.common[form.foldedBehind] ?? ''}</span></summary>
${whole}
</details>`;
};
