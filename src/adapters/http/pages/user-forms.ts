import { filledText, Html, html, NOTHING } from '../../../application/templates.ts';
import { type Form, hasPasskeys, PAGES, pathOf, takesProof, usedAs } from '../forms/flow.ts';
import type { PageFacts } from '../forms/page-facts.ts';
import type { PageContent } from '../forms/page-routes.ts';
import { pathIn, type UserSite } from './layout.ts';

/** Everything that the pages say in one language, by what it is for. */
export type UserTexts = {
  readonly direction: string;
  readonly common: Texts;
  readonly errors: Texts;
  readonly notices: Texts;
  /** What happened to the account, by the kinds of events. */
  readonly events: Texts;
  readonly buttons: Texts;
  readonly fields: Readonly<Record<string, Texts>>;
  readonly pages: Readonly<Record<string, Texts>>;
};
type Texts = Readonly<Record<string, string>>;

/** A page with all that its variables need. */
export type PageView = PageContent &
  PageFacts & {
    /** Tells a second click on a form from a second attempt. */
    readonly once: string;
    /** The time of the service, in epoch milliseconds. */
    readonly now: number;
    /** The picture of the secret that an app is to read; `null`: there is none. */
    readonly qr: string | null;
    /** With which users can log in, besides. */
    readonly providers: readonly { readonly name: string; readonly title: string }[];
    /** The languages of mails. */
    readonly locales: readonly string[];
    /** The origin of the application to which the pages lead back; `null`: not known. */
    readonly application: string | null;
    /** Of a password. */
    readonly minLength: number;
    readonly texts: UserTexts;
    readonly site: UserSite;
    readonly locale: string;
  };

/** What people type into the fields of the pages, by the member of the request that it becomes. The values of `autocomplete`: HTML standard. */
const FIELDS: Readonly<Record<string, { readonly type: string; readonly attributes?: string }>> = {
  account: { type: 'text', attributes: 'autocomplete="username webauthn" autocapitalize="none" spellcheck="false"' },
  username: { type: 'text', attributes: 'autocomplete="username" autocapitalize="none" spellcheck="false"' },
  email: { type: 'email', attributes: 'autocomplete="email"' },
  password: { type: 'password', attributes: 'autocomplete="current-password"' },
  'new-password': { type: 'password', attributes: 'autocomplete="new-password"' },
  currentPassword: { type: 'password', attributes: 'autocomplete="current-password"' },
  newPassword: { type: 'password', attributes: 'autocomplete="new-password"' },
  // Not a number: leading zeros count. Not of six characters: apps show blanks.
  code: { type: 'text', attributes: 'autocomplete="one-time-code" inputmode="numeric"' },
  mailCode: { type: 'text', attributes: 'autocomplete="one-time-code" inputmode="numeric"' },
  recoveryCode: { type: 'text', attributes: 'autocomplete="off" autocapitalize="characters" spellcheck="false"' },
  token: { type: 'text', attributes: 'autocomplete="off" autocapitalize="none" spellcheck="false" data-token' },
  invitation: { type: 'text', attributes: 'autocomplete="off" autocapitalize="none" spellcheck="false" data-token' },
  locale: { type: 'select', attributes: 'autocomplete="language"' },
  name: { type: 'text', attributes: 'autocomplete="off"' },
  remember: { type: 'checkbox' },
};

/** Fields into which nobody has to type. */
const NOT_TYPED = ['token', 'invitation', 'credential', 'remember'];

/** What was wrong with the form, if it is the one that was sent. A list has the same form for each of its items. */
const sentBefore = ({ state }: PageView, form: string, { id }: Texts): PageView['state'] =>
  state?.form === form && (id === undefined || state.typed?.id === id) ? state : null;

/** Whether a field has to be filled in, can be, or is not there. */
const needOf = (shown: PageView, form: string, field: string): 'required' | 'optional' | 'left-out' =>
  PAGES[shown.name].forms[form]?.eases?.[field]?.(shown) ?? 'required';

/** In its own words; the tag itself where it has no name, such as one with an extension. */
export const languageName = (tag: string): string => {
  try {
    return new Intl.DisplayNames([tag], { type: 'language' }).of(tag) ?? tag;
  } catch {
    return tag;
  }
};

/** The languages of mails, each in its own words. */
const localesOf = ({ locales, locale }: PageView, chosen: string): Html => {
  const offered = new Set([...locales, ...(chosen === '' ? [] : [chosen])]);
  return html`${[...offered].map((each) => {
    const selected = each === (chosen || locale) ? html` selected` : NOTHING;
    return html`<option value="${each}" lang="${each}"${selected}>${languageName(each)}</option>\n`;
  })}`;
};

/**
 * The field to type into next, which has the focus: after an error, the first one that is wrong or empty. Settings begin without one, since they
 * are read first.
 */
const nextField = (shown: PageView, form: string, sent: PageView['state']): string | undefined => {
  const { name, state } = shown;
  const { forms, path } = PAGES[name];
  const isFirst = form === Object.keys(forms)[0] && !path.startsWith(PAGES.account.path);
  if (state?.error === undefined ? !isFirst : sent === null) return undefined;
  const fields = (forms[form] as Form).fields.filter(
    (field) => !NOT_TYPED.includes(field) && needOf(shown, form, field) !== 'left-out',
  );
  return (
    fields.find((field) => state?.error?.fields.some((each) => each.field === field)) ??
    fields.find((field) => state?.typed?.[field] === undefined)
  );
};

/** The name of the account, beside its password, for password managers. */
const nameBeside = ({ payloads }: PageView, { fields, preview }: Form): Html => {
  const { username } = payloads['current-user'] ?? {};
  if (!fields.some((field) => FIELDS[field]?.type === 'password')) return NOTHING;
  if (username === undefined && preview === undefined) return NOTHING;
  const told = preview === undefined ? NOTHING : html` data-told="username"`;
  return html`<input type="text" autocomplete="username" value="${username ?? ''}"${told} readonly hidden>\n`;
};

/** What only the token of a link tells, before a click: whose account it is, and what can be undone. The script fills it in. */
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

const withLength = ({ minLength }: PageView, text: string): string => text.replace('{min}', `${minLength}`);

/** What is typed into a field, with what was wrong with it. `new`: of an account or a password that the form makes. */
const fieldOf = (shown: PageView, form: string, name: string, values: Texts): Html => {
  const { texts, name: page } = shown;
  const sent = sentBefore(shown, form, values);
  const isNew = PAGES[page].registers !== undefined;
  const { type, attributes } = FIELDS[isNew ? `new-${name}` : name] ?? FIELDS[name] ?? { type: 'hidden' };
  if (type === 'hidden') return html`<input type="hidden" name="${name}" value="${values[name] ?? ''}">\n`;
  const { label = name, hint: own, ...words } = texts.fields[`${page}.${name}`] ?? texts.fields[name] ?? {};
  // The rules of a password that is chosen.
  const rules = isNew && name === 'password' ? texts.fields.newPassword?.hint : own;
  const isOptional = needOf(shown, form, name) === 'optional';
  const without = isOptional ? texts.pages[page]?.[`no-${name}`] : undefined;
  const hint = without === undefined ? rules : [without, rules].filter((each) => each !== undefined).join(' ');
  const id = [form, values.id ?? [], name].flat().join('-');
  if (type === 'checkbox')
    return html`<p class="check"><label><input type="checkbox" name="${name}"${sent?.typed?.[name] === 'on' ? html` checked` : NOTHING}> ${label}</label></p>\n`;
  const problem = sent?.error?.fields.find(({ field }) => field === name);
  const said = problem && withLength(shown, words[problem.code] ?? words.other ?? '');
  const isNext = name === nextField(shown, form, sent);
  // Read out with the field that has the focus.
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
  return html`<p class="field"><label for="${id}">${label}</label>
${hint === undefined ? NOTHING : html`<span class="rules" id="${id}-hint">${withLength(shown, hint)}</span>\n`}${control}
${said === undefined ? NOTHING : html`<span class="problem" id="${id}-problem">${said}</span>`}</p>
`;
};

/** Where a form leads whose success is followed by the offer of a passkey. */
const offerOf = ({ to, site, ...facts }: PageView, { offers }: Form): Html => {
  // A page of the service does not lead on to another one.
  if (!offers?.({ ...facts }) || to?.startsWith('/')) return NOTHING;
  const path = pathIn(site, PAGES['new-passkey'].path);
  return html` data-offers="${to === undefined ? path : `${path}?${new URLSearchParams({ to })}`}"`;
};

/** What the script does for a form. Without it, a form for a passkey is not there. */
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

/** The ids of forms that fields and buttons outside of them belong to, by the routes that they submit to. */
const IDS: Readonly<Record<string, string>> = { register: 'register', login: 'log-in' };

/** A form with its fields and its button. @param values of its fields, and of hidden ones. @param item what it changes, if the page lists several. */
export const formOf = (shown: PageView, name: string, values: Texts = {}, item?: string): Html => {
  const form = PAGES[shown.name].forms[name] as Form;
  const { to, site, texts } = shown;
  const text = texts.buttons[`${shown.name}.${name}`] ?? '';
  const button = filledText(text, () => item ?? '');
  const label = item === undefined || button !== text ? NOTHING : html` aria-label="${button}: ${item}"`;
  const [action, key] = [pathIn(site, pathOf(shown.name, name)), `${shown.name}.${name}`];
  const isUsed = form.recalled && shown.usedLast === usedAs(name, values.provider);
  const used = isUsed
    ? html`
<small id="used">${texts.common['used-last'] ?? ''}</small>`
    : NOTHING;
  const described = isUsed ? html` aria-describedby="used"` : NOTHING;
  if (form.buttonOf !== undefined)
    return html`<button form="${form.buttonOf}" formaction="${action}" formnovalidate data-form="${key}"${described}>${button}</button>${used}`;
  const id = IDS[form.submits];
  const hidden = Object.entries({ once: shown.once, ...(to !== undefined && { to }), ...values });
  return html`<form method="post" action="${action}" data-form="${key}"${id === undefined ? NOTHING : html` id="${id}"`} ${scriptOf(shown, form)}>
${hidden.filter(([each]) => !form.fields.includes(each)).map(([each, value]) => html`<input type="hidden" name="${each}" value="${value}">\n`)}${nameBeside(shown, form)}${toldOf(shown, form)}${form.fields.filter((field) => needOf(shown, name, field) !== 'left-out').map((field) => fieldOf(shown, name, field, values))}<button${label}${described}>${button}</button>${used}
</form>`;
};
