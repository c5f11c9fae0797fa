import { html, NOTHING } from '../../../../application/templates.ts';
import type { User } from '../../../../domain/user.ts';
import { pathIn } from '../layout.ts';
import { foldedForms } from './forms.ts';
import { badge, nextPage, officePage, panel, selectOf, tableOf, timeOf, userLink } from './frame.ts';
import type { PageView } from './view.ts';

type Listed = Pick<
  User,
  'id' | 'username' | 'email' | 'createdAt' | 'emailVerifiedAt' | 'disabledAt' | 'secondFactorAt'
>;
type UsersShown = { readonly users: readonly Listed[]; readonly next: string | null };
type Query = { readonly contains?: string | undefined; readonly only?: string | undefined };

const ONLY: readonly (readonly [value: string, text: string])[] = [
  ['', 'All'],
  ['disabled', 'Disabled'],
  ['unverified', 'Address not proven'],
  ['second-factor', 'With a second factor'],
  ['logged-in', 'By their last log-in'],
];

export const stateOf = ({ disabledAt, emailVerifiedAt, secondFactorAt }: Omit<Listed, 'id' | 'createdAt'>) => [
  ...(disabledAt === null ? [] : [badge('bad', 'Disabled')]),
  ...(emailVerifiedAt === null ? [badge('warn', 'Address not proven')] : []),
  ...(secondFactorAt === null ? [] : [badge('quiet', 'Second factor')]),
];

export const usersPage = (view: PageView, { users, next }: UsersShown, { contains = '', only = '' }: Query): string => {
  const { site, providers } = view;
  const filters = [...ONLY, ...providers.map((name) => [`provider:${name}`, `Signing in with ${name}`] as const)];
  const rows = users.map((user) => [
    userLink(site, user.id, user.username),
    html`${user.email}`,
    timeOf(user.createdAt),
    html`${stateOf(user).map((each) => html`${each} `)}`,
  ]);
  return officePage(view, {
    path: '/office/users',
    title: 'Users',
    lead: view.forms.has('create-user') ? html`<a href="#all">Create a user, or end all sessions</a>` : '',
    main: html`<form method="get" action="${pathIn(site, '/office/users')}" role="search" class="filters">
<p><label for="contains">Name or address</label>
<input id="contains" name="contains" type="search" value="${contains}" maxlength="254" autocomplete="off" autocapitalize="none" spellcheck="false" aria-describedby="parts"></p>
${selectOf('only', 'Show', filters, only)}<button>Search</button>
<small id="parts">A part of it; of one or two characters, its beginning.${only === '' ? '' : ' A page with a filter looks through 10,000 users at most, so it may have few of them: go on then.'}</small>
</form>
${tableOf(contains === '' && only === '' ? 'The newest first' : 'Found', ['Name', 'Address', 'Registered', 'State'], rows)}${
  next === null ? NOTHING : nextPage({ contains, only, cursor: next }, 'Further users')
}${panel('For all users', html`${foldedForms(view, ['create-user', 'end-all-sessions'])}`, 'all')}`,
  });
};
