import { filledText, Html, html, NO_HTML } from '../../../application/templates.ts';
import { hasPasskeys } from '../flow/rows.ts';
import { type Form, formPath, lastUse, PAGES, takesProof } from '../forms/flow.ts';
import { pathIn } from './layout.ts';
import { hasForm, type PageView, type Texts, targetQuery } from './page-view.ts';
import { FIELDS, fieldOf, isUnfolded, languageName, requirementOf } from './user-fields.ts';

/** Shapes of icons, 24 × 24, by the names of providers in OIDC_PROVIDERS. They have the colour of the text, or colours of the provider. */
const PROVIDER_ICONS: Readonly<Record<string, string>> = {
  google:
    '<g stroke="none"><path fill="#4285f4" d="M22.6 12.3c0-.8-.1-1.5-.2-2.3H12v4.3h5.9c-.3 1.4-1 2.5-2.2 3.3v2.8h3.6c2.1-2 3.3-4.8 3.3-8.1z"/><path fill="#34a853" d="M12 23c3 0 5.5-1 7.3-2.6l-3.6-2.8c-1 .7-2.2 1-3.7 1-2.9 0-5.3-1.9-6.2-4.5H2.2v2.8C4 20.5 7.7 23 12 23z"/><path fill="#fbbc05" d="M5.8 14.1a6.6 6.6 0 0 1 0-4.2V7.1H2.2a11 11 0 0 0 0 9.8z"/><path fill="#ea4335" d="M12 5.4c1.6 0 3.1.6 4.2 1.6l3.2-3.1A11 11 0 0 0 2.2 7.1l3.6 2.8c.9-2.6 3.3-4.5 6.2-4.5z"/></g>',
  microsoft:
    '<g stroke="none"><path fill="#f25022" d="M3.5 3.5h8v8h-8z"/><path fill="#7fba00" d="M12.5 3.5h8v8h-8z"/><path fill="#00a4ef" d="M3.5 12.5h8v8h-8z"/><path fill="#ffb900" d="M12.5 12.5h8v8h-8z"/></g>',
  apple:
    '<path d="M12 7.8c-3.1-1.8-7.3-.3-7.3 4.7 0 4 2.4 8.3 4.7 8.3 1 0 1.5-.6 2.6-.6s1.6.6 2.6.6c1.9 0 3.6-2.3 4.5-5-3.3-1.4-3.4-5.7-.3-7.3-1.6-2.1-4.5-2.1-6.8-.7zm0-1.6c.1-2.2 1.4-3.7 3.5-4 .1 2.2-1.4 3.9-3.5 4z" fill="currentColor" stroke="none"/>',
  github:
    '<path d="M4.6 3.5c1.6.1 3 .8 4.1 1.6a12 12 0 0 1 6.6 0c1.1-.8 2.5-1.5 4.1-1.6.6 1.6.5 3 .2 4 .9 1.1 1.4 2.4 1.4 3.8 0 4.5-3.4 6.1-6 6.5.6.7 1 1.6 1 2.7v1.5H8V20.5c0-1.1.4-2 1-2.7-2.6-.4-6-2-6-6.5 0-1.4.5-2.7 1.4-3.8-.3-1-.4-2.4.2-4z" fill="currentColor" stroke="none"/>',
};
const OTHER_PROVIDER_ICON = '<path d="M10 4h9.5v16H10M4 12h10.5m-4-4 4 4-4 4"/>';
const PASSKEY_ICON = '<circle cx="8" cy="15.5" r="4.5"/><path d="m11.2 12.3 8.8-8.8m-4 4 3 3"/>';

const icon = (shape: string): Html =>
  new Html(
    `<svg viewBox="0 0 24 24" width="20" height="20" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" stroke-linejoin="round">${shape}</svg>`,
  );

/** A hidden field with the username, for password managers: in a form with a password, if the page or the link knows the user. */
const usernameField = ({ payloads }: PageView, { fields, previewPath }: Form): Html => {
  const { username } = payloads['current-user'] ?? {};
  if (!fields.some((field) => FIELDS[field]?.type === 'password')) return NO_HTML;
  if (username === undefined && previewPath === undefined) return NO_HTML;
  const toldAttribute = previewPath === undefined ? NO_HTML : html` data-told="username"`;
  return html`<input type="text" autocomplete="username" value="${username ?? ''}"${toldAttribute} readonly hidden>\n`;
};

/** Hidden sentences about the account of a link. The script fills in the response of the form's preview, and shows what it has filled. */
const previewTexts = ({ texts, name }: PageView, { previewPath }: Form): Html => {
  const preview = previewPath === undefined ? [] : ['whose', 'undo'].flatMap((each) => texts.pages[name]?.[each] ?? []);
  return html`${preview.map((text) => html`<p hidden>${text.split(/(\{\w+\})/).map(previewPart)}</p>\n`)}`;
};

const previewPart = (part: string): Html => {
  const [, member] = /^\{(\w+)\}$/.exec(part) ?? [];
  if (member === undefined) return html`${part}`;
  return member === 'username'
    ? html`<strong data-told="username"></strong>`
    : html`<time data-told="${member}"></time>`;
};

/** The attribute by which the script may lead the user, after a success, over the page that offers a passkey. */
const passkeyOffer = (view: PageView, { offersPasskey }: Form): Html =>
  // If `to` is a page of the service, the user gets no offer.
  !offersPasskey?.(view) || view.to?.startsWith('/')
    ? NO_HTML
    : html` data-offers="${pathIn(view.site, PAGES['new-passkey'].path)}${targetQuery(view)}"`;

/** Attributes for the script. A form for a passkey stays hidden in browsers without scripts. */
const scriptAttributes = (view: PageView, form: Form): Html => {
  const { name: page, payloads, state, now, site, texts, fallbackUrls } = view;
  const { fields, previewPath } = form;
  const creation = payloads['passkey-options'];
  const options = creation === undefined ? ['options', payloads['pending-login']?.passkey] : ['creates', creation];
  const [kind, json] = fields.includes('credential') ? options : ['', undefined];
  const { allAcceptedCredentialIds: accepted } = (state?.payload ?? {}) as Partial<Readonly<Record<string, unknown>>>;
  return html`${takesProof(form) ? html` data-proves="${`${now}`}"` : NO_HTML}${
    fields.includes('credential') ? html` hidden data-passkey="${texts.errors['no-passkey'] ?? ''}"` : NO_HTML
  }${json ? html` data-${`${kind}`}="${JSON.stringify(json)}"` : NO_HTML}${
    kind === 'creates' && accepted ? html` data-accepted="${JSON.stringify(state?.payload)}"` : NO_HTML
  }${form.autofillsPasskeys ? html` data-autofill` : NO_HTML}${form.conditionalCreate && state?.error === undefined ? html` data-silent` : NO_HTML}${passkeyOffer(view, form)}${
    form.renamesUser && creation && hasPasskeys(view)
      ? html` data-user="${JSON.stringify({ rp: creation.rp, user: creation.user })}"`
      : NO_HTML
  }${
    PAGES[page].forwards === 'when-proven' && state?.error === undefined
      ? html` data-at-once data-elsewhere="${JSON.stringify(fallbackUrls ?? [])}"`
      : NO_HTML
  }${previewPath === undefined ? NO_HTML : html` data-preview="${pathIn(site, previewPath)}"`}`;
};

const iconOf = ({ fields }: Form, { provider }: Texts): Html => {
  if (provider !== undefined) return icon(PROVIDER_ICONS[provider] ?? OTHER_PROVIDER_ICON);
  return fields.includes('credential') ? icon(PASSKEY_ICON) : NO_HTML;
};

/** @param attributes of a button that sends the form to another address */
const buttonOf = (view: PageView, name: string, values: Texts, itemName = '', attributes: Html = NO_HTML): Html => {
  const form = PAGES[view.name].forms[name] as Form;
  const pattern = view.texts.buttons[`${view.name}.${name}`] ?? '';
  const text = filledText(pattern, () => itemName);
  const content = html`${iconOf(form, values)}${text}`;
  const labelAttribute = itemName === '' || text !== pattern ? NO_HTML : html` aria-label="${text}: ${itemName}"`;
  const uses = form.marksLastUse === true ? [lastUse(name, values.provider)] : (form.marksLastUse ?? []);
  if (!uses.includes(view.lastUsedForm ?? '')) return html`<button${attributes}${labelAttribute}>${content}</button>`;
  return html`<button${attributes}${labelAttribute} aria-describedby="used">${content}</button>
<small id="used">${view.texts.common['used-last'] ?? ''}</small>`;
};

/** Buttons in the form that send its fields to another route. */
const otherButtons = (view: PageView, form: string): readonly Html[] =>
  Object.entries<Form>(PAGES[view.name].forms)
    .filter(([name, { buttonOf: owner }]) => owner === form && hasForm(view, name))
    .map(([name]) => {
      const action = pathIn(view.site, formPath(view.name, name));
      const attributes = html` formaction="${action}" formnovalidate data-form="${view.name}.${name}"`;
      return buttonOf(view, name, {}, '', attributes);
    });

const presentValue = ({ payloads, texts, locale }: PageView, form: string): Html => {
  const { username = '', email = '', emailVerified, locale: userLocale } = payloads['current-user'] ?? {};
  const emailState = texts.common[emailVerified ? 'confirmed' : 'unconfirmed'] ?? '';
  const values: Readonly<Record<string, Html>> = {
    username: html`<span>${username}</span>`,
    email: html`<span>${email} <small>${emailState}</small></span>`,
    password: html`<span aria-hidden="true">••••••••</span>`,
    language: html`<span>${languageName(userLocale ?? locale)}</span>`,
  };
  return values[form] ?? NO_HTML;
};

const lockedRow = (view: PageView, name: string): Html => {
  const { common, pages } = view.texts;
  return html`${presentValue(view, name)} <button aria-label="${common.change ?? ''}: ${pages[view.name]?.[name] ?? ''}">${common.change ?? ''}</button>`;
};

/** @param values of the fields, also of hidden ones @param itemName in a list, the name of the item that the form is about */
export const formOf = (view: PageView, name: string, values: Texts = {}, itemName?: string): Html => {
  const form = PAGES[view.name].forms[name] as Form;
  const { to, site, texts, state } = view;
  const [action, key] = [pathIn(site, formPath(view.name, name)), `${view.name}.${name}`];
  // By its id, a template may add fields to the form (docs/mail-and-pages.md).
  const id = form.submits === 'register' ? html` id="register"` : NO_HTML;
  const hidden = Object.entries({ once: view.once, ...(to !== undefined && { to }), ...values });
  const resendClass = form.resendsMail ? html` class="again${state?.notice === undefined ? '' : ' wait'}"` : NO_HTML;
  const isLocked = form.isLocked?.(view) === true;
  const isRow = isLocked && form.foldedBehind !== undefined;
  const fields = isLocked ? [] : form.fields.filter((field) => requirementOf(view, name, field) !== 'left-out');
  const button = isRow ? lockedRow(view, name) : buttonOf(view, name, values, itemName);
  const markup = html`<form method="post" action="${action}" data-form="${key}"${id}${isRow ? html` class="row"` : resendClass} ${scriptAttributes(view, form)}>
${hidden.filter(([each]) => !form.fields.includes(each)).map(([each, value]) => html`<input type="hidden" name="${each}" value="${value}">\n`)}${usernameField(view, { ...form, fields })}${previewTexts(view, form)}${fields.map((field) => fieldOf(view, name, field, values))}${button}${isLocked ? NO_HTML : otherButtons(view, name)}
</form>`;
  if (form.foldedBehind === undefined || isRow) return markup;
  return html`<details${isUnfolded(view, name, values) ? html` open` : NO_HTML}>
<summary>${presentValue(view, name)} <span>${texts.common[form.foldedBehind] ?? ''}</span></summary>
${markup}
</details>`;
};
