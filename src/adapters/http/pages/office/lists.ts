import type * as v from 'valibot';
import { MAX_COUNTED } from '../../../../application/storage/webhooks.ts';
import { type Html, html, NO_HTML } from '../../../../application/templates.ts';
import { EVENT_KINDS, type EventKind } from '../../../../domain/event.ts';
import type { User } from '../../../../domain/user.ts';
import type { InvitationJson, SettingJson, WebhookJson } from '../../../json/back-office.ts';
import { breakable, pathIn, prose } from '../layout.ts';
import { deviceOf, hasDevice, type ShownEvent, sentenceOf } from './events.ts';
import { buttonOf, foldedForms } from './forms.ts';
import {
  badge,
  nextPageLink,
  numberOf,
  officePage,
  panel,
  selectOf,
  tableOf,
  timeOf,
  userLink,
  userLinkOrId,
  wordsOf,
} from './frame.ts';
import type { PageView } from './view.ts';

type ListedUser = Pick<
  User,
  'id' | 'username' | 'email' | 'createdAt' | 'emailVerifiedAt' | 'disabledAt' | 'secondFactorAt'
>;
type Users = { readonly users: readonly ListedUser[]; readonly next: string | null };
type UsersQuery = { readonly contains?: string | undefined; readonly only?: string | undefined };

const USER_FILTERS = [
  ['', 'All'],
  ['disabled', 'Disabled'],
  ['unverified', 'Address not proven'],
  ['second-factor', 'With a second factor'],
  ['logged-in', 'By their last log-in'],
];

export const stateBadges = ({ disabledAt, emailVerifiedAt, secondFactorAt }: Omit<ListedUser, 'id' | 'createdAt'>) => [
  ...(disabledAt === null ? [] : [badge('bad', 'Disabled')]),
  ...(emailVerifiedAt === null ? [badge('warn', 'Address not proven')] : []),
  ...(secondFactorAt === null ? [] : [badge('quiet', 'Second factor')]),
];

export const usersPage = (view: PageView, { users, next }: Users, { contains = '', only = '' }: UsersQuery): string => {
  const { site, providers } = view;
  const filters = [...USER_FILTERS, ...providers.map((name) => [`provider:${name}`, `Signing in with ${name}`])];
  const rows = users.map((user) => [
    userLink(site, user.id, user.username),
    html`${user.email}`,
    timeOf(user.createdAt),
    html`${stateBadges(user).map((each) => html`${each} `)}`,
  ]);
  return officePage(view, {
    path: '/office/users',
    title: 'Users',
    lead: view.forms.has('create-user') ? html`<a href="#all">Create a user, or end all sessions</a>` : '',
    main: html`<form method="get" action="${pathIn(site, '/office/users')}" role="search" class="filters">
<p><label for="contains">Name or address</label>
<input id="contains" name="contains" type="search" value="${contains}" maxlength="254" autocomplete="off" autocapitalize="none" spellcheck="false" aria-describedby="parts"></p>
${selectOf('only', 'Show', filters, only)}<button>Search</button>
<small id="parts">A part of it; of one or two characters, its beginning.${only === '' || next === null ? '' : ' A page looks through 10,000 users at most, so it may have few: go on then.'}</small>
</form>
${tableOf(contains === '' && only === '' ? 'The newest first' : 'Found', ['Name', 'Address', 'Registered', 'State'], rows)}${
  next === null ? NO_HTML : nextPageLink({ contains, only, cursor: next }, 'Further users')
}${panel('For all users', html`${foldedForms(view, ['create-user', 'end-all-sessions'])}`, 'all')}`,
  });
};

type Invitations = { readonly invitations: readonly v.InferInput<typeof InvitationJson>[] };

export const invitationsPage = (view: PageView, { invitations }: Invitations): string => {
  const rows = invitations.map(({ email, createdAt, expiresAt, attributes }) => [
    html`${email}`,
    timeOf(createdAt),
    timeOf(expiresAt),
    html`<code>${JSON.stringify(attributes)}</code>`,
    buttonOf(view, 'revoke-invitation', 'email', email),
  ]);
  return officePage(view, {
    path: '/office/invitations',
    title: 'Invitations',
    lead: 'Those that were neither used nor have expired.',
    main: html`${panel('Somebody new', html`${foldedForms(view, ['invite'])}`)}${tableOf('By their addresses', ['Address', 'Invited', 'Valid until', 'Attributes', ''], rows)}`,
  });
};

type Events = { readonly events: readonly (ShownEvent & { readonly userId: string })[]; readonly next: string | null };
type EventsQuery = { readonly kind?: EventKind | undefined; readonly actor?: string | undefined };

export const eventsPage = (view: PageView, { events, next }: Events, query: EventsQuery): string => {
  const { kind = '', actor = '' } = query;
  const kinds = [['', 'All'], ...EVENT_KINDS.map((each) => [each, wordsOf(each)])];
  const rows = events.map((event) => [
    timeOf(event.at),
    html`${sentenceOf(view, event)}`,
    userLinkOrId(view, event.userId),
    hasDevice(event) ? deviceOf(view, event) : NO_HTML,
  ]);
  return officePage(view, {
    path: '/office/events',
    title: 'Events',
    main: html`<form method="get" action="${pathIn(view.site, '/office/events')}" role="search" class="filters">
<p><label for="actor">Operator</label>
<input id="actor" name="actor" value="${actor}" maxlength="80" list="operators" autocomplete="off" autocapitalize="none" spellcheck="false" aria-describedby="whole">
<datalist id="operators">${view.suggestions.map((name) => html`<option value="${name}">`)}</datalist></p>
${selectOf('kind', 'What happened', kinds, kind)}<button>Show</button>
<small id="whole">The whole name, as events have it. What operators did stays listed after its user is deleted.${kind === '' || next === null ? '' : ' A page looks through 10,000 events at most, so it may have few: go on then.'}</small>
</form>
${tableOf('The latest first', ['Time', 'What', 'User', 'Device'], rows)}${next === null ? NO_HTML : nextPageLink({ kind, actor, before: next }, 'Earlier')}`,
  });
};

type Webhook = v.InferInput<typeof WebhookJson>;

export const webhooksPage = (view: PageView, { webhooks }: { readonly webhooks: readonly Webhook[] }): string => {
  const badgesOf = ({ disabledAt, waiting, givenUp }: Webhook): Html => {
    const more = waiting + givenUp < MAX_COUNTED ? '' : '+';
    return html`${disabledAt === null ? badge('good', 'Enabled') : badge('bad', 'Disabled')} ${badge(waiting === 0 ? 'quiet' : 'warn', `${numberOf(waiting)}${more} waiting`)}${givenUp === 0 ? NO_HTML : html` ${badge('bad', `${numberOf(givenUp)}${more} given up`)}`}`;
  };
  return officePage(view, {
    path: '/office/webhooks',
    title: 'Webhooks',
    lead: 'They are added, tried and removed by a command: npx tandem webhooks',
    main: html`${webhooks.map((webhook) =>
      panel(
        webhook.url,
        html`<p>${badgesOf(webhook)}</p>
<dl class="facts">
<dt>Told of</dt><dd>${webhook.types?.join(', ') ?? 'all types'}</dd>
<dt>Added</dt><dd>${timeOf(webhook.createdAt)}</dd>
${webhook.disabledAt === null ? NO_HTML : html`<dt>Disabled</dt><dd>${timeOf(webhook.disabledAt)}</dd>\n`}</dl>
${
  webhook.failures.length === 0
    ? NO_HTML
    : tableOf(
        'Some of what failed',
        ['Type', 'User', 'Attempts', 'Last error', 'Next attempt'],
        webhook.failures.map(({ type, userId, attempts, lastError, nextAttemptAt }) => [
          html`${type}`,
          userLinkOrId(view, userId),
          html`${attempts}`,
          html`<code>${lastError ?? ''}</code>`,
          nextAttemptAt === null ? html`after another one` : timeOf(nextAttemptAt),
        ]),
      )
}${
  webhook.disabledAt === null && webhook.waiting + webhook.givenUp === 0
    ? NO_HTML
    : html`<p class="lead">${view.forms.get('replay-webhook')?.text ?? ''}</p>
${buttonOf(view, 'replay-webhook', 'id', webhook.id)}`
}`,
      ),
    )}${webhooks.length === 0 ? html`<p class="lead">There are none.</p>` : NO_HTML}`,
  });
};

type Setting = v.InferInput<typeof SettingJson>;

export const settingsPage = (view: PageView, { settings }: { readonly settings: readonly Setting[] }): string => {
  const panelOf = (title: string, caption: string, listed: readonly Setting[]) => {
    const rows = listed.map(({ name, value, isSet, meaning }) => [
      html`<code>${breakable(name)}</code>`,
      value === null ? badge('quiet', isSet ? 'set, and secret' : 'not set') : html`<code>${value}</code>`,
      prose(meaning),
    ]);
    return panel(title, tableOf(caption, ['Variable', 'Value', 'Meaning'], rows));
  };
  const explicitSettings = settings.filter(({ isSet }) => isSet);
  const defaultSettings = settings.filter(({ isSet }) => !isSet);
  return officePage(view, {
    path: '/office/settings',
    title: 'Settings',
    lead: 'What this instance was started with. Secrets are not shown.',
    main: html`${panelOf('Set', 'By its environment', explicitSettings)}
${panelOf('Defaults', 'All others', defaultSettings)}`,
  });
};
