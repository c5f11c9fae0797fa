import { filledText, Html, html, NO_HTML } from '../../../application/templates.ts';
import { waitsForMailCode } from '../flow/login.ts';
import { hasAddedPasskey } from '../flow/settings.ts';
import { type Form, PAGES } from '../forms/flow.ts';
import { startedApp } from '../forms/page-facts.ts';
import { pathIn } from './layout.ts';
import { hasForm, linkOf, type PageView } from './page-view.ts';
import { formOf } from './user-forms.ts';

/** Web pages of common mail providers, by the domains of their addresses. */
const MAILBOXES = [
  { name: 'Gmail', url: 'https://mail.google.com/', domains: /^(?:gmail|googlemail)\.com$/ },
  { name: 'Outlook', url: 'https://outlook.live.com/', domains: /^(?:outlook|hotmail|live|msn)\.[a-z.]+$/ },
  { name: 'Yahoo', url: 'https://mail.yahoo.com/', domains: /^(?:yahoo|ymail)\.[a-z.]+$/ },
  { name: 'iCloud', url: 'https://www.icloud.com/mail', domains: /^(?:icloud|me|mac)\.com$/ },
  { name: 'Proton Mail', url: 'https://mail.proton.me/', domains: /^(?:proton\.me|protonmail\.com|pm\.me)$/ },
  { name: 'GMX', url: 'https://www.gmx.net/', domains: /^gmx\.(?:de|net|at|ch)$/ },
  { name: 'WEB.DE', url: 'https://web.de/', domains: /^web\.de$/ },
];

const mailboxOf = (email: string) => {
  const domain = email.replace(/^.*@/s, '').toLowerCase();
  return email.includes('@') ? MAILBOXES.find(({ domains }) => domains.test(domain)) : undefined;
};

/** The URL to which the page `provider` leads; `null`: it is another page, or its state has no URL. */
export const providerUrl = ({ name, state }: PageView): string | null =>
  PAGES[name].forwards === 'to-url' ? ((state?.payload as { readonly url?: string } | undefined)?.url ?? null) : null;

const timeOf = ({ locale }: PageView, at: number): Html =>
  html`<time datetime="${new Date(at).toISOString()}">${new Date(at).toLocaleString(locale, { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' })} UTC</time>`;

const timeText = (view: PageView, text: string, at: number): Html => {
  const [before = '', after = ''] = (view.texts.common[text] ?? '').split('{time}');
  return html`${before}${timeOf(view, at)}${after}`;
};

const item = (title: string, details: readonly (Html | string)[], forms: readonly Html[] = []): Html => {
  const shownDetails = details
    .filter((each) => each !== '')
    .map((each, at) => html`${at === 0 ? '' : ' · '}<bdi>${each}</bdi>`);
  return html`<li><div><strong>${title}</strong> <small>${shownDetails}</small></div>${forms}</li>\n`;
};

const itemList = ({ texts }: PageView, name: string, items: readonly Html[]): Html =>
  items.length === 0
    ? html`<p class="lead">${texts.pages.factors?.[`no-${name}`] ?? ''}</p>`
    : html`<ul class="items">${items}</ul>`;

/** A form for each provider, or only for linked ones. */
const providerForms = (view: PageView, form: 'provider' | 'link'): readonly Html[] => {
  const { name: page, payloads, site } = view;
  const { path, forms } = PAGES[page];
  const errorTo = pathIn(site, path);
  const back: Readonly<Record<string, string>> = forms[form]?.returnsToPage ? { errorTo, to: errorTo } : { errorTo };
  const providers = view.providers.filter(
    ({ name }) => !forms[form]?.linkedOnly || payloads.identities?.some((each) => each.provider === name),
  );
  return providers.map(({ name, title }) => formOf(view, form, { ...back, provider: name }, title));
};

/** The values of the variables `{{list.…}}` in the templates of `PAGES`. */
export const LISTS: Readonly<Record<string, (view: PageView) => Html>> = {
  sessions: (view) => {
    const { common } = view.texts;
    const textIf = (name: string, condition: boolean) => (condition ? [common[name] ?? ''] : []);
    const items = (view.payloads.sessions ?? []).map(({ id, name, lastUsedAt, binding, current, remembered }) => {
      const device = name ?? common['unknown-device'] ?? '';
      const details = [
        ...textIf('this-device', current),
        ...textIf('bound', binding !== 'none'),
        ...textIf('remembered', remembered),
        timeText(view, 'last-used', lastUsedAt),
      ];
      // The session of this device has no form: it ends by the page of the log-out.
      return item(device, details, current ? [] : [formOf(view, 'session', { id }, device)]);
    });
    return html`<ul class="items">${items}</ul>`;
  },
  passkeys: (view) => {
    const { passkeys = [] } = view.payloads.factors ?? {};
    const items = passkeys.map(({ id, name, createdAt }, at) => {
      // If the user has just added the last passkey of the list, this unfolds the form that names it.
      const typed = hasAddedPasskey(view) && at === passkeys.length - 1 ? { id, name } : undefined;
      const renameView = typed ? { ...view, state: { page: view.name, form: 'rename-passkey', typed } } : view;
      return item(
        name,
        [timeText(view, 'added', createdAt)],
        [formOf(renameView, 'rename-passkey', { id, name }, name), formOf(view, 'remove-passkey', { id }, name)],
      );
    });
    return itemList(view, 'passkeys', items);
  },
  apps: (view) => {
    const { app = '' } = view.texts.common;
    const items = (view.payloads.factors?.totp ?? []).map(({ id, createdAt }) =>
      item(app, [timeText(view, 'added', createdAt)], [formOf(view, 'remove-app', { id }, app)]),
    );
    return itemList(view, 'apps', items);
  },
  providers: (view) => {
    const forms = hasForm(view, 'provider') ? providerForms(view, 'provider') : [];
    return html`${forms.map((form) => html`${form}\n`)}`;
  },
  /** Empty if the service has no providers, unless the user still has an identity at a former provider. */
  identities: (view) => {
    const { identities = [] } = view.payloads;
    if (view.providers.length === 0 && identities.length === 0) return NO_HTML;
    const titles = new Map(view.providers.map(({ name, title }) => [name, title]));
    const items = identities.map(({ id, provider, email, createdAt, lastUsedAt }) => {
      const title = titles.get(provider) ?? provider;
      const time = lastUsedAt === null ? timeText(view, 'added', createdAt) : timeText(view, 'last-used', lastUsedAt);
      return item(title, [email ?? '', time], [formOf(view, 'unlink', { id }, [title, email ?? []].flat().join(' '))]);
    });
    return html`<section>
<h2>${view.texts.pages.factors?.providers ?? ''}</h2>
${itemList(view, 'identities', items)}
${providerForms(view, 'link')}
</section>`;
  },
  provider: (view) => {
    const { 'log-in': back = '', continue: on = '' } = view.texts.pages.provider ?? {};
    const url = providerUrl(view);
    return url === null
      ? html`<p><a class="button" href="${pathIn(view.site, PAGES['log-in'].path)}">${back}</a></p>`
      : html`<p><a class="button" href="${url}" rel="noreferrer">${on}</a></p>`;
  },
  registration: (view) => {
    const { new: lead = '', register = '' } = view.texts.pages['log-in'] ?? {};
    return view.mayRegister
      ? html`<p class="more">${lead} <a href="${linkOf(view, 'register')}">${register}</a></p>`
      : NO_HTML;
  },
  /** A link for users without a password, on a page that lacks a form because of that. */
  'first-password': (view) => {
    const forms = Object.entries<Form>(PAGES[view.name].forms);
    const lacksForm = forms.some(([name, { fields }]) => fields.length > 0 && !hasForm(view, name));
    return lacksForm && view.pages.has('forgot')
      ? html`<p class="more"><a href="${linkOf(view, 'forgot')}">${view.texts.pages.account?.['first-password'] ?? ''}</a></p>`
      : NO_HTML;
  },
  mailbox: ({ state, texts }) => {
    const { account, email = '' } = state?.typed ?? {};
    const mailbox = mailboxOf(account || email);
    if (mailbox === undefined) return NO_HTML;
    const text = filledText(texts.common['open-mailbox'] ?? '', () => mailbox.name);
    return html`<p><a class="button" href="${mailbox.url}" target="_blank" rel="noreferrer">${text}</a></p>`;
  },
  'codes-left': (view) =>
    !hasForm(view, 'recovery-codes')
      ? NO_HTML
      : html`<p>${filledText(view.texts.common.left ?? '', () => `${view.payloads.factors?.recoveryCodes ?? 0}`)}</p>`,
  /** A text about what the pending log-in waits for. */
  pending: (view) => {
    const { lead = '', 'mail-lead': mailLead = '' } = view.texts.pages['second-factor'] ?? {};
    return html`<p class="lead">${waitsForMailCode(view) ? mailLead : lead}</p>`;
  },
  /** A text for users who have lost the second factor, or get no mail. */
  'no-factor': (view) => {
    const { lost = '', 'mail-lost': mailLost = '' } = view.texts.pages['second-factor'] ?? {};
    if (view.payloads['pending-login']?.enrol) return NO_HTML;
    const mailText = html`${mailLost} <a href="${linkOf(view, 'forgot')}">${view.texts.common.forgot ?? ''}</a>`;
    return html`<p class="more">${waitsForMailCode(view) ? mailText : lost}</p>`;
  },
  /** The secret of the authenticator app that the user is adding. */
  app: (view) => {
    const { secret } = startedApp(view);
    if (secret === undefined || view.qr === null) return NO_HTML;
    const { common } = view.texts;
    return html`<p>${common.scan ?? ''}</p>
<div class="qr" role="img" aria-label="${common.qr ?? ''}">${new Html(view.qr)}</div>
<p><code>${secret.replaceAll(/.{4}(?=.)/g, '$& ')}</code></p>`;
  },
  'recovery-codes': (view) => {
    const { recoveryCodes = [] } = (view.state?.payload ?? {}) as { readonly recoveryCodes?: readonly string[] };
    if (recoveryCodes.length === 0) return NO_HTML;
    // With the username, since users print the codes.
    const { username = '' } = view.payloads['current-user'] ?? {};
    return html`<p class="owner">${view.site.brand.name} · ${username}</p>
<ol class="codes">${recoveryCodes.map((code) => html`<li><code>${code}</code></li>\n`)}</ol>`;
  },
  events: (view) => {
    const { events = [], next = null } = view.payloads.events ?? {};
    const { common } = view.texts;
    return html`<ol class="items">${events.map(({ kind, count, at, deviceName, note }) =>
      item(`${view.texts.events[kind] ?? kind}${count > 1 ? ` × ${count}` : ''}`, [
        deviceName ?? '',
        note === null ? '' : filledText(common.note ?? '', () => note),
        timeOf(view, at),
      ]),
    )}</ol>
${next !== null ? html`<p><a href="?before=${next}">${common.older ?? ''}</a></p>` : NO_HTML}`;
  },
};
