import type { AccountData, EventData } from '../../../application/accounts/account-data.ts';
import { type Html, html, NOTHING } from '../../../application/templates.ts';
import type { User } from '../../../domain/user.ts';
import { layout, pathIn, type Site } from './layout.ts';

/** The pages of the back office for people: English alone, as the commands of operators, without scripts. ADR 0031. */

/** What people type, by the member of the request that it becomes. `flag`: a checkbox. */
const FIELDS: Readonly<Record<string, { readonly label: string; readonly type: 'text' | 'email' | 'flag' }>> = {
  reason: { label: 'Reason, which the users can read', type: 'text' },
  email: { label: 'Email address', type: 'email' },
  emailVerified: { label: 'I know that the address is theirs', type: 'flag' },
  final: { label: 'Somebody else had taken the account: it goes back to its owner', type: 'flag' },
  handOver: { label: 'Show it here, to hand over: it proves no address', type: 'flag' },
  sendLink: { label: 'Send a mail with a link', type: 'flag' },
};

/** How people do what programs do by a request. */
export type ActForm = {
  readonly button: string;
  /** What it does, unless the button says so. */
  readonly text?: string;
  /** A word that has to be typed, so that nobody does it by mistake. */
  readonly confirm?: string;
  /** What the page says then. Default: that it is done. */
  readonly done?: string;
  /** What it says of a link that is shown. */
  readonly handsOver?: string;
  /** To the user who was created, or from one who is gone. Default: to the page of the form. */
  readonly leadsTo?: 'user' | 'list';
};

export type OfficeForm = ActForm & {
  /** Where it is sent. */
  readonly action: string;
  /** The members of the request. */
  readonly members: readonly string[];
};

/** What a form says on the page that it leads to. */
export type FormOutcome = {
  readonly form: string;
  /** What was wrong, line by line; `null`: it is done. */
  readonly problems: readonly string[] | null;
  readonly typed: Readonly<Record<string, string>>;
  /** What is handed over to the user. */
  readonly url?: string | undefined;
};

type PageView = {
  readonly site: Site;
  /** Who looks at it. */
  readonly operator: string;
  /** Tells a second click on a form from a second attempt. */
  readonly once: string;
  readonly said: FormOutcome | null;
  /** Where the operator logs out; `null`: not here. */
  readonly logOutUrl: string | null;
  /** By the name of the act. A service without mail has not all of them. */
  readonly forms: ReadonlyMap<string, OfficeForm>;
};

type ListShown = PageView & {
  readonly users: readonly Omit<User, 'passwordHash'>[];
  readonly contains: string | null;
  /** The next page; `null` on the last one. */
  readonly next: string | null;
};

type UserShown = PageView & {
  readonly data: AccountData;
  readonly events: readonly EventData[];
  readonly next: string | null;
};

const page = (shown: PageView, title: string, main: Html): string =>
  layout(shown.site, {
    title: `${title} · Back office`,
    main: html`<h1>${title}</h1>
${alertIn(shown)}${main}
<p class="lead">Events name you ${shown.operator}.${shown.logOutUrl === null ? NOTHING : html` <a href="${shown.logOutUrl}">Log out</a>`}</p>`,
  });

const alertIn = ({ said, forms }: PageView): Html => {
  const form = forms.get(said?.form ?? '');
  if (said === null || form === undefined) return NOTHING;
  const { problems, url } = said;
  const { button, done = 'Done.', handsOver = done } = form;
  return problems === null
    ? html`<p role="status" class="notice">${button}: ${url === undefined ? done : handsOver}${url === undefined ? NOTHING : html` <code>${url}</code>`}</p>\n`
    : html`<p role="alert" class="notice" id="alert">${button}: ${problems.join('; ')}</p>\n`;
};

export const officeListPage = (shown: ListShown): string => {
  const { site, users, contains, next } = shown;
  const further = new URLSearchParams({ ...(contains !== null && { contains }), cursor: next ?? '' });
  return page(
    shown,
    'Users',
    html`<form method="get" action="${pathIn(site, '/office')}" role="search">
<label for="contains">Part of a name or an address; of one or two characters, its beginning</label>
<input id="contains" name="contains" type="search" value="${contains ?? ''}" maxlength="254" autocomplete="off" autocapitalize="none" spellcheck="false"> <button>Search</button>
</form>
<table class="stacked">
<caption>${contains === null ? 'The newest first' : 'Found'}</caption>
<thead><tr><th scope="col">Name</th><th scope="col">Address</th><th scope="col">Since</th><th scope="col">State</th></tr></thead>
<tbody>
${users.map((user) => rowOf(site, user))}</tbody>
</table>
${users.length === 0 ? html`<p>There are none.</p>\n` : NOTHING}${next === null ? NOTHING : html`<p><a href="?${further.toString()}">Further users</a></p>\n`}<h2>All users</h2>
${foldedForms(shown, ['invite', 'create-user', 'end-all-sessions'])}`,
  );
};

const rowOf = (
  site: Site,
  { id, username, email, createdAt, disabledAt }: ListShown['users'][number],
): Html => html`<tr>
<th scope="row"><a href="${pathIn(site, `/office/users/${id}`)}">${username}</a></th>
<td>${email}</td>
<td data-label="Since">${timeOf(createdAt)}</td>
<td data-label="State">${disabledAt === null ? 'enabled' : 'disabled'}</td>
</tr>
`;

/** One user's story, and what can be done. */
export const officeUserPage = (shown: UserShown): string => {
  const { data, events, next } = shown;
  const { user, sessions, rememberedDevices, passkeys, factors, identities, recoveryCodes } = data;
  const isProven = user.emailVerifiedAt !== null;
  const offered: readonly string[] = [
    ...['end-sessions', user.disabledAt === null ? 'disable-user' : 'enable-user', 'set-email'],
    ...(isProven ? [] : ['verify-email', 'resend']),
    ...(user.disabledAt === null ? ['reset-link'] : []),
    ...['unlock-user', 'remove-factors', 'delete-user'],
  ];
  const end = ({ id }: { readonly id: string }) => formOf(shown, 'end-session', { sessionId: id });
  const since = (at: number | null, otherwise: string) => (at === null ? html`${otherwise}` : timeOf(at));
  return page(
    shown,
    user.username,
    html`<dl>
<dt>Id</dt><dd><code>${user.id}</code></dd>
<dt>Address</dt><dd>${user.email}</dd>
<dt>Proven</dt><dd>${since(user.emailVerifiedAt, 'no')}</dd>
<dt>Registered</dt><dd>${timeOf(user.createdAt)}</dd>
<dt>Password changed</dt><dd>${since(user.passwordChangedAt || null, 'never')}</dd>
<dt>Disabled</dt><dd>${since(user.disabledAt, 'no')}</dd>
<dt>Attributes</dt><dd><code>${JSON.stringify(user.attributes)}</code></dd>
</dl>
<h2>What you can do</h2>
${foldedForms(shown, offered)}
${listOf('Sessions', [
  ...sessions.map((each) => html`${deviceOf(each)}, used ${timeOf(each.lastUsedAt)} ${end(each)}`),
  ...rememberedDevices.map((each) => html`Remembered: ${deviceOf(each)}, since ${timeOf(each.createdAt)} ${end(each)}`),
])}
${listOf('Second factors and passkeys', [
  ...factors.map(
    ({ createdAt, confirmedAt }) =>
      html`Authenticator app, added ${timeOf(createdAt)}${confirmedAt === null ? ', not confirmed' : ''}`,
  ),
  ...(recoveryCodes.left > 0 ? [html`Recovery codes: ${recoveryCodes.left} left`] : []),
  ...passkeys.map(({ name, createdAt }) => html`Passkey “${name}”, added ${timeOf(createdAt)}`),
])}
${listOf(
  'Identities at providers',
  identities.map(
    ({ id, provider, email, createdAt }) =>
      html`${provider}${email === null ? '' : ` (${email})`}, linked ${timeOf(createdAt)} ${formOf(shown, 'unlink-identity', { identityId: id })}`,
  ),
)}
${listOf('What happened', events.map(eventOf))}
${next === null ? NOTHING : html`<p><a href="?${new URLSearchParams({ before: next }).toString()}">Earlier</a></p>`}`,
  );
};

const listOf = (title: string, items: readonly Html[]): Html => html`<h2>${title}</h2>
${items.length === 0 ? html`<p class="lead">None.</p>` : html`<ul class="plain rows">\n${items.map((each) => html`<li>${each}</li>\n`)}</ul>`}`;

const eventOf = ({ at, kind, reason, note, count, actor, ...from }: EventData): Html => html`${timeOf(at)}
<strong>${kind}</strong>${count > 1 ? ` × ${count}` : ''}${reason === null ? '' : ` (${reason})`}${note === null ? '' : `: “${note}”`}${
  actor === null ? '' : `, by the operator ${actor}`
}${from.userAgent === null && from.address === null ? '' : `, ${deviceOf(from)}`}`;

const deviceOf = ({ userAgent, address }: Pick<EventData, 'userAgent' | 'address'>): string =>
  [userAgent ?? 'Unknown device', address ?? []].flat().join(', ');

const timeOf = (at: number): Html => {
  const text = new Date(at).toISOString();
  return html`<time datetime="${text}">${text.slice(0, 16).replace('T', ' ')} UTC</time>`;
};

const isRefused = ({ said }: PageView, name: string): boolean => said?.form === name && said.problems !== null;

/** Forms behind their names: nothing happens by one click on a phone. One is open when it was sent and refused. */
const foldedForms = (shown: PageView, names: readonly string[]): readonly Html[] =>
  names.map((name) => {
    const button = shown.forms.get(name)?.button;
    return button === undefined
      ? NOTHING
      : html`<details${isRefused(shown, name) ? html` open` : NOTHING}><summary>${button}</summary>
${formOf(shown, name)}</details>
`;
  });

/** @param hidden what nobody has to type. */
const formOf = (shown: PageView, name: string, hidden: Readonly<Record<string, string>> = {}): Html => {
  const form = shown.forms.get(name);
  if (form === undefined) return NOTHING;
  const { button, text, members, confirm, action } = form;
  const typed = isRefused(shown, name) ? shown.said?.typed : undefined;
  const fields = Object.entries(FIELDS).filter(([field]) => members.includes(field));
  const needed = confirm === undefined ? [] : [['confirm', { label: `Type “${confirm}”`, type: 'text' }] as const];
  return html`<form method="post" action="${action}">
${text === undefined ? NOTHING : html`<p>${text}</p>\n`}${Object.entries({ once: shown.once, ...hidden }).map(
  ([field, value]) => html`<input type="hidden" name="${field}" value="${value}">`,
)}
${[...fields, ...needed].map(([field, { label, type }]) => {
  const id = `${name}-${field}`;
  const common = html`id="${id}" name="${field}"${typed === undefined ? NOTHING : html` aria-describedby="alert"`}`;
  return type === 'flag'
    ? html`<p><input ${common} type="checkbox"${typed?.[field] === 'on' ? html` checked` : NOTHING}> <label for="${id}">${label}</label></p>\n`
    : html`<p><label for="${id}">${label}</label><br><input ${common} type="${type}" value="${typed?.[field] ?? ''}" autocomplete="off"${field === 'reason' ? html` maxlength="200"` : html` required`}></p>\n`;
})}<button>${button}</button></form>
`;
};
