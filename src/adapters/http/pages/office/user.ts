import type { AccountData, EventData } from '../../../../application/accounts/account-data.ts';
import { type Html, html, NO_HTML } from '../../../../application/templates.ts';
import { pathIn } from '../layout.ts';
import { deviceOf, timelineOf } from './events.ts';
import { buttonOf, foldedForms } from './forms.ts';
import { badge, nextPageLink, officePage, panel, timeOf, wordsOf } from './frame.ts';
import { stateBadges } from './lists.ts';
import type { PageView } from './view.ts';

type UserPageData = { readonly data: AccountData; readonly events: readonly EventData[]; readonly next: string | null };

export const userPage = (view: PageView, { data, events, next }: UserPageData): string => {
  const { user, sessions, passkeys } = data;
  const actNames = [
    ...['end-sessions', ...(user.disabledAt === null ? ['reset-link'] : []), 'unlock-user'],
    ...(user.emailVerifiedAt === null ? ['resend', 'verify-email'] : []),
    ...['set-email', 'set-attributes', 'remove-factors'],
    ...[user.disabledAt === null ? 'disable-user' : 'enable-user', 'delete-user'],
  ];
  const prefill = { username: user.username, values: { attributes: JSON.stringify(user.attributes) } };
  const badgeOf = (count: number, name: string) => badge('quiet', `${count || 'No'} ${name}${count === 1 ? '' : 's'}`);
  return officePage(view, {
    path: '/office/users',
    title: user.username,
    badges: [
      ...(user.disabledAt === null ? [badge('good', 'Enabled')] : []),
      ...stateBadges(user),
      badgeOf(sessions.length, 'session'),
      ...(passkeys.length > 0 ? [badgeOf(passkeys.length, 'passkey')] : []),
    ],
    lead: html`${user.email} · <code>${user.id}</code> · <a href="#acts">What you can do</a>`,
    main: html`<div class="columns">
<div>
${panel('What happened', html`${timelineOf(view, events)}${events.length === 0 ? html`<p class="lead">Nothing yet.</p>` : NO_HTML}${next === null ? NO_HTML : nextPageLink({ before: next }, 'Earlier')}`)}</div>
<div>
${panel('Account', accountOf(data))}
${panel(
  'What you can do',
  html`${foldedForms(view, actNames, prefill)}
<p><a href="${pathIn(view.site, `/office/users/${user.id}/export`)}" download>Export everything that is stored</a></p>`,
  'acts',
)}
${panel('Devices', devicesOf(view, data))}
${panel('Ways in', waysInOf(view, data))}
${panel('Links and mails', mailsOf(data))}
</div>
</div>`,
  });
};

const accountOf = ({ user }: AccountData): Html => {
  const timeOrText = (at: number | null, text: string) => (at === null ? html`${text}` : timeOf(at));
  const facts: readonly (readonly [string, Html])[] = [
    ['Registered', timeOf(user.createdAt)],
    ['Address proven', timeOrText(user.emailVerifiedAt, 'no')],
    ['Password changed', timeOrText(user.passwordChangedAt || null, 'never')],
    ['Disabled', timeOrText(user.disabledAt, 'no')],
    ['Second factor', timeOrText(user.secondFactorAt, 'no')],
    ['Language', html`${user.locale ?? 'the default'}`],
    ['Attributes', html`<code>${JSON.stringify(user.attributes)}</code>`],
  ];
  return html`<dl class="facts">${facts.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>\n`)}</dl>`;
};

const listOf = (items: readonly Html[], otherwise: string): Html =>
  items.length === 0
    ? html`<p class="lead">${otherwise}</p>`
    : html`<ul class="plain rows">\n${items.map((each) => html`<li>${each}</li>\n`)}</ul>`;

const entryOf = (name: Html | string, details: Html, button = NO_HTML): Html =>
  html`<div>${name}<br><small>${details}</small></div>${button}`;

const devicesOf = (view: PageView, { sessions, rememberedDevices }: AccountData): Html => {
  const entry = (each: Parameters<typeof deviceOf>[1] & { readonly id: string }, mark: Html | string, when: Html) =>
    entryOf(html`${deviceOf(view, each)} ${mark}`, when, buttonOf(view, 'end-session', 'sessionId', each.id));
  const bindingBadge = (binding: string) => (binding === 'none' ? '' : badge('good', 'Tied to the device'));
  return listOf(
    [
      ...sessions.map((each) => entry(each, bindingBadge(each.binding), html`last used ${timeOf(each.lastUsedAt)}`)),
      ...rememberedDevices.map((each) =>
        entry(each, badge('quiet', 'Remembered'), html`since ${timeOf(each.createdAt)}`),
      ),
    ],
    'Logged in nowhere.',
  );
};

const waysInOf = (view: PageView, { factors, recoveryCodes, passkeys, identities }: AccountData): Html =>
  listOf(
    [
      ...passkeys.map(({ name, createdAt }) => entryOf(`Passkey “${name}”`, html`added ${timeOf(createdAt)}`)),
      ...factors.map(({ createdAt, confirmedAt }) =>
        entryOf('Authenticator app', html`added ${timeOf(createdAt)}${confirmedAt === null ? ', not confirmed' : ''}`),
      ),
      ...(recoveryCodes.left > 0 ? [entryOf('Recovery codes', html`${recoveryCodes.left} left`)] : []),
      ...identities.map(({ id, provider, email, createdAt }) =>
        entryOf(
          `${provider}${email === null ? '' : ` (${email})`}`,
          html`linked ${timeOf(createdAt)}`,
          buttonOf(view, 'unlink-identity', 'identityId', id),
        ),
      ),
    ],
    'No passkey, second factor or provider.',
  );

/** The names of links whose purpose, written as words, would not say what they are for. */
const LINK_NAMES: Readonly<Record<string, string>> = {
  'not-me': 'I did not register',
  'factors-undo': 'It was not me',
};

const mailsOf = ({ links, messages }: AccountData): Html =>
  listOf(
    [
      ...links.map(({ purpose, expiresAt }) =>
        entryOf(LINK_NAMES[purpose] ?? wordsOf(purpose), html`link, valid until ${timeOf(expiresAt)}`),
      ),
      ...messages.map(({ kind, createdAt }) => entryOf(wordsOf(kind), html`mail, waits since ${timeOf(createdAt)}`)),
    ],
    'No link is valid, no mail waits.',
  );
