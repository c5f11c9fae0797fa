import { filledText, Html, html, NOTHING } from '../../../application/templates.ts';
import { waitsForMail } from '../flow/login.ts';
import { hasAddedPasskey } from '../flow/settings.ts';
import { type Form, PAGES } from '../forms/flow.ts';
import { startedApp } from '../forms/page-facts.ts';
import { pathIn } from './layout.ts';
import { isOffered, linkOf, type PageView } from './page-view.ts';
import { formOf } from './user-forms.ts';

type Mailbox = { readonly name: string; readonly url: string; readonly domains: RegExp };

/** The most common mail providers of people. */
const MAILBOXES: readonly Mailbox[] = [
  { name: 'Gmail', url: 'https://mail.google.com/', domains: /^(?:gmail|googlemail)\.com$/ },
  { name: 'Outlook', url: 'https://outlook.live.com/', domains: /^(?:outlook|hotmail|live|msn)\.[a-z.]+$/ },
  { name: 'Yahoo', url: 'https://mail.yahoo.com/', domains: /^(?:yahoo|ymail)\.[a-z.]+$/ },
  { name: 'iCloud', url: 'https://www.icloud.com/mail', domains: /^(?:icloud|me|mac)\.com$/ },
  { name: 'Proton Mail', url: 'https://mail.proton.me/', domains: /^(?:proton\.me|protonmail\.com|pm\.me)$/ },
  { name: 'GMX', url: 'https://www.gmx.net/', domains: /^gmx\.(?:de|net|at|ch)$/ },
  { name: 'WEB.DE', url: 'https://web.de/', domains: /^web\.de$/ },
];

const mailboxOf = (email: string): Mailbox | undefined => {
  const domain = email.replace(/^.*@/s, '').toLowerCase();
  return email.includes('@') ? MAILBOXES.find(({ domains }) => domains.test(domain)) : undefined;
};

/** The URL at the provider; `null` if the page was loaded again. */
export const providerUrl = ({ name, state }: PageView): string | null =>
  PAGES[name].leadsOn === 'to-url' ? ((state?.payload as { readonly url?: string } | undefined)?.url ?? null) : null;

const timeOf = ({ locale }: PageView, at: number): Html =>
  html`<time datetime="${new Date(at).toISOString()}">${new Date(at).toLocaleString(locale, { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' })} UTC</time>`;

/** A text in which `{time}` is replaced. */
const sayTime = (shown: PageView, text: string, at: number): Html => {
  const [before = '', after = ''] = (shown.texts.common[text] ?? '').split('{time}');
  return html`${before}${timeOf(shown, at)}${after}`;
};

const item = (title: string, details: readonly (Html | string)[], forms: readonly Html[] = []): Html => {
  const said = details
    .filter((each) => each !== '')
    .map((each, at) => html`${at === 0 ? '' : ' · '}<bdi>${each}</bdi>`);
  return html`<li><div><strong>${title}</strong> <small>${said}</small></div>${forms}</li>\n`;
};

/** A list, or without items, a text about it. */
const itemsOf = ({ texts }: PageView, name: string, items: readonly Html[]): Html =>
  items.length === 0
    ? html`<p class="lead">${texts.pages.factors?.[`no-${name}`] ?? ''}</p>`
    : html`<ul class="items">${items}</ul>`;

/** A form for each provider. An error leads back to the page. */
const providersOf = (shown: PageView, form: 'provider' | 'link'): readonly Html[] => {
  const { name: page, payloads, site } = shown;
  const { path, forms } = PAGES[page];
  const errorTo = pathIn(site, path);
  const back: Readonly<Record<string, string>> = forms[form]?.returns ? { errorTo, to: errorTo } : { errorTo };
  const providers = shown.providers.filter(
    ({ name }) => !forms[form]?.linkedOnly || payloads.identities?.some((each) => each.provider === name),
  );
  return providers.map(({ name, title }) => formOf(shown, form, { ...back, provider: name }, title));
};

/** The variables `{{list.…}}` of templates. */
export const LISTS: Readonly<Record<string, (shown: PageView) => Html>> = {
  sessions: (shown) => {
    const { common } = shown.texts;
    const say = (name: string, isSo: boolean) => (isSo ? [common[name] ?? ''] : []);
    const items = (shown.payloads.sessions ?? []).map(({ id, name, lastUsedAt, binding, current, remembered }) => {
      const device = name ?? common['unknown-device'] ?? '';
      const details = [
        ...say('this-device', current),
        ...say('bound', binding !== 'none'),
        ...say('remembered', remembered),
        sayTime(shown, 'last-used', lastUsedAt),
      ];
      // The session of this device ends by a log-out, which has a page.
      return item(device, details, current ? [] : [formOf(shown, 'session', { id }, device)]);
    });
    return html`<ul class="items">${items}</ul>`;
  },
  passkeys: (shown) => {
    const { passkeys = [] } = shown.payloads.factors ?? {};
    const items = passkeys.map(({ id, name, createdAt }, at) => {
      // Unfolds the form that names a passkey which was just added.
      const typed = hasAddedPasskey(shown) && at === passkeys.length - 1 ? { id, name } : undefined;
      const asked = typed ? { ...shown, state: { page: shown.name, form: 'rename-passkey', typed } } : shown;
      return item(
        name,
        [sayTime(shown, 'added', createdAt)],
        [formOf(asked, 'rename-passkey', { id, name }, name), formOf(shown, 'remove-passkey', { id }, name)],
      );
    });
    return itemsOf(shown, 'passkeys', items);
  },
  apps: (shown) => {
    const { app = '' } = shown.texts.common;
    const items = (shown.payloads.factors?.totp ?? []).map(({ id, createdAt }) =>
      item(app, [sayTime(shown, 'added', createdAt)], [formOf(shown, 'remove-app', { id }, app)]),
    );
    return itemsOf(shown, 'apps', items);
  },
  providers: (shown) => {
    const forms = isOffered(shown, 'provider') ? providersOf(shown, 'provider') : [];
    return html`${forms.map((form) => html`${form}\n`)}`;
  },
  /** Empty without providers, unless an identity is left of one that is configured no longer. */
  identities: (shown) => {
    const { identities = [] } = shown.payloads;
    if (shown.providers.length === 0 && identities.length === 0) return NOTHING;
    const titles = new Map(shown.providers.map(({ name, title }) => [name, title]));
    const items = identities.map(({ id, provider, email, createdAt, lastUsedAt }) => {
      const title = titles.get(provider) ?? provider;
      const time = lastUsedAt === null ? sayTime(shown, 'added', createdAt) : sayTime(shown, 'last-used', lastUsedAt);
      return item(title, [email ?? '', time], [formOf(shown, 'unlink', { id }, [title, email ?? []].flat().join(' '))]);
    });
    return html`<section>
<h2>${shown.texts.pages.factors?.providers ?? ''}</h2>
${itemsOf(shown, 'identities', items)}
${providersOf(shown, 'link')}
</section>`;
  },
  provider: (shown) => {
    const { 'log-in': back = '', continue: on = '' } = shown.texts.pages.provider ?? {};
    const url = providerUrl(shown);
    return url === null
      ? html`<p><a class="button" href="${pathIn(shown.site, PAGES['log-in'].path)}">${back}</a></p>`
      : html`<p><a class="button" href="${url}" rel="noreferrer">${on}</a></p>`;
  },
  registration: (shown) => {
    const { new: lead = '', register = '' } = shown.texts.pages['log-in'] ?? {};
    return shown.mayRegister
      ? html`<p class="more">${lead} <a href="${linkOf(shown, 'register')}">${register}</a></p>`
      : NOTHING;
  },
  /** Users without a password registered without one, or came from a provider. */
  'first-password': (shown) => {
    const forms = Object.entries<Form>(PAGES[shown.name].forms);
    const isLacking = forms.some(([name, { fields }]) => fields.length > 0 && !isOffered(shown, name));
    return isLacking && shown.pages.has('forgot')
      ? html`<p class="more"><a href="${linkOf(shown, 'forgot')}">${shown.texts.pages.account?.['first-password'] ?? ''}</a></p>`
      : NOTHING;
  },
  mailbox: ({ state, texts }) => {
    const { email, account = '' } = state?.typed ?? {};
    const mailbox = mailboxOf(email ?? account);
    if (mailbox === undefined) return NOTHING;
    const text = filledText(texts.common['open-mailbox'] ?? '', () => mailbox.name);
    return html`<p><a class="button" href="${mailbox.url}" target="_blank" rel="noreferrer">${text}</a></p>`;
  },
  'codes-left': (shown) =>
    !isOffered(shown, 'recovery-codes')
      ? NOTHING
      : html`<p>${filledText(shown.texts.common.left ?? '', () => `${shown.payloads.factors?.recoveryCodes ?? 0}`)}</p>`,
  /** What the pending log-in waits for. */
  pending: (shown) => {
    const { lead = '', 'mail-lead': mailLead = '' } = shown.texts.pages['second-factor'] ?? {};
    return html`<p class="lead">${waitsForMail(shown) ? mailLead : lead}</p>`;
  },
  /** For users who have lost the factor. */
  'no-factor': (shown) => {
    const { lost = '', 'mail-lost': mailLost = '' } = shown.texts.pages['second-factor'] ?? {};
    if (shown.payloads['pending-login']?.enrol) return NOTHING;
    const way = html`${mailLost} <a href="${linkOf(shown, 'forgot')}">${shown.texts.common.forgot ?? ''}</a>`;
    return html`<p class="more">${waitsForMail(shown) ? way : lost}</p>`;
  },
  /** The secret of an app that is being added. */
  app: (shown) => {
    const { secret } = startedApp(shown);
    if (secret === undefined || shown.qr === null) return NOTHING;
    const { common } = shown.texts;
    return html`<p>${common.scan ?? ''}</p>
<div class="qr" role="img" aria-label="${common.qr ?? ''}">${new Html(shown.qr)}</div>
<p><code>${secret.replaceAll(/.{4}(?=.)/g, '$& ')}</code></p>`;
  },
  'recovery-codes': (shown) => {
    const { recoveryCodes = [] } = (shown.state?.payload ?? {}) as { readonly recoveryCodes?: readonly string[] };
    if (recoveryCodes.length === 0) return NOTHING;
    // On paper, they need the name of their owner.
    const { username = '' } = shown.payloads['current-user'] ?? {};
    return html`<p class="owner">${shown.site.brand.name} · ${username}</p>
<ol class="codes">${recoveryCodes.map((code) => html`<li><code>${code}</code></li>\n`)}</ol>`;
  },
  events: (shown) => {
    const { events = [], next = null } = shown.payloads.events ?? {};
    const { common } = shown.texts;
    return html`<ol class="items">${events.map(({ kind, count, at, deviceName, note }) =>
      item(`${shown.texts.events[kind] ?? kind}${count > 1 ? ` × ${count}` : ''}`, [
        deviceName ?? '',
        note === null ? '' : filledText(common.note ?? '', () => note),
        timeOf(shown, at),
      ]),
    )}</ol>
${next !== null ? html`<p><a href="?before=${next}">${common.older ?? ''}</a></p>` : NOTHING}`;
  },
};
