import * as v from 'valibot';
import * as accounts from '../../../../application/accounts/account-data.ts';
import { listUsers, USER_FILTER } from '../../../../application/accounts/list-users.ts';
import { OVERVIEW_RANGES, type OverviewRange, overview } from '../../../../application/overview.ts';
import type { Core } from '../../../../application/service.ts';
import { listInvitations } from '../../../../application/storage/credentials.ts';
import { listActors } from '../../../../application/storage/events.ts';
import type { Stores } from '../../../../application/storage/records.ts';
import { countUsers } from '../../../../application/storage/rows.ts';
import { listWebhooks, summarizeDeliveries } from '../../../../application/storage/webhooks.ts';
import { EVENT_KINDS } from '../../../../domain/event.ts';
import { MAX_INVITATIONS } from '../../../../domain/registration.ts';
import { EMAIL_MAX_LENGTH } from '../../../../domain/user.ts';
import { InvitationJson, SettingJson, WebhookJson } from '../../../json/back-office.ts';
import { DEFAULT_LIMIT, Limit, nullableTimes, numbers, Timestamp, texts } from '../../../json/fields.ts';
import { eventsPage, invitationsPage, settingsPage, usersPage, webhooksPage } from '../../pages/office/lists.ts';
import { overviewPage } from '../../pages/office/overview.ts';
import { EventsQuery } from '../accounts/account.ts';
import { ExportJson, exportOneAtATime, SessionsJson } from '../accounts/export.ts';
import { type Act, act } from './act.ts';
import { EventForOperatorsJson, UserForOperatorsJson } from './fields.ts';

const EXAMPLE_ID = '01M805M0DQRNB7PKSRES70K5MB';

const cursorOf = (pattern: RegExp, example: string) =>
  v.optional(v.pipe(v.string(), v.regex(pattern, 'must be `next` of the page before'), v.examples([example])));

const UsersQuery = v.strictObject({
  contains: v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(EMAIL_MAX_LENGTH), v.examples(['example.org']))),
  newest: v.optional(v.picklist(['true', 'false'])),
  only: v.optional(
    v.pipe(
      v.string(),
      v.regex(USER_FILTER, 'must be disabled, unverified, second-factor, logged-in, or provider: and a name'),
      v.examples(['disabled', 'provider:google']),
    ),
  ),
  cursor: cursorOf(/^(?:\d{1,15}-)?[0-9A-Z]{26}$/, EXAMPLE_ID),
  limit: v.optional(Limit),
});

const AllEventsQuery = v.strictObject({
  kind: v.optional(v.picklist(EVENT_KINDS)),
  actor: v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(80), v.examples(['support']))),
  before: cursorOf(/^\d{1,15}-[0-9A-Z]{26}$/, `1795687427000-${EXAMPLE_ID}`),
  limit: v.optional(Limit),
});

const pageJson = <Name extends string, Item extends v.GenericSchema>(name: Name, item: Item) =>
  v.object({ ...v.entriesFromList([name], v.array(item)), next: v.nullable(v.string()) });

const WaitingJson = v.object({ ...numbers('count'), ...nullableTimes('since') });
const CountJson = v.object({ ...texts('kind', 'detail'), ...numbers('count') });
const OverviewJson = v.object({
  users: v.nullable(v.number()),
  sessions: v.nullable(v.number()),
  waitingMails: WaitingJson,
  waitingWebhooks: WaitingJson,
  steps: v.array(v.object({ at: Timestamp, counts: v.array(CountJson) })),
});

/** Acts that only read (ADR 0031). */
export const READS = {
  overview: act({
    at: 'GET /overview',
    summary: 'Return how much happened in each hour or day, and what waits',
    description:
      'Of events by their kinds, with the method of log-ins and the reason of ended sessions as `detail`; `users` and `sessions` are how many there were. Hours that are over are summed within minutes.',
    query: v.strictObject({ range: v.optional(v.picklist(Object.keys(OVERVIEW_RANGES) as OverviewRange[])) }),
    data: OverviewJson,
    execute: (deps, { query: { range = '24h' } }) => overview(deps)(range),
    page: { path: '/office', name: 'Overview', render: overviewPage },
  }),
  user: act({
    at: 'GET /users/:id',
    summary: 'Return a user',
    data: UserForOperatorsJson,
    execute: async (deps, { id }) => accounts.userData(await accounts.existingUser(deps, id)),
  }),
  'user-events': act({
    at: 'GET /users/:id/events',
    summary: 'List what happened to a user, the latest first, and which operator did it',
    query: EventsQuery,
    data: pageJson('events', EventForOperatorsJson),
    execute: (deps, { id, query: { before = null, limit = DEFAULT_LIMIT } }) =>
      accounts.listEventsAsOperator(deps)(id, { before, limit }),
  }),
  sessions: act({
    at: 'GET /users/:id/sessions',
    summary: 'List the sessions of a user',
    data: v.object({ sessions: SessionsJson }),
    execute: async (deps, { id }) =>
      accounts.accountData(deps, await accounts.existingUser(deps, id), deps.clock.now()),
  }),
  users: act({
    at: 'GET /users',
    summary: 'List users, the newest first, or those whose name or address contains a text',
    description:
      'A text of one or two characters finds the names and addresses that begin with it, in their alphabetical order. Letter case does not matter. With `only`, a page looks through a bounded number of rows, and may have fewer users than `limit`, or none, and a `next`. `logged-in` lists by the last log-in: a further page may have a user again.',
    query: UsersQuery,
    data: pageJson('users', UserForOperatorsJson),
    async execute(deps, { query: { contains = null, only, newest, cursor = null, limit = DEFAULT_LIMIT } }) {
      const page = { contains, only, after: cursor, newestFirst: newest !== 'false', limit };
      const { users, next } = await listUsers(deps)(page);
      return { users: users.map(accounts.userData), next };
    },
    page: { path: '/office/users', name: 'Users', render: usersPage },
  }),
  // After `user`, since the router, which ignores letter case, takes the last route that matches `/users/COUNT`.
  count: act({
    at: 'GET /users/count',
    summary: 'Count the users',
    data: v.object({ count: v.number() }),
    execute: async (deps) => ({ count: await countUsers(deps) }),
  }),
  events: act({
    at: 'GET /events',
    summary: 'List what happened to all users, the latest first, and which operator did it',
    description:
      'With `kind`, a page looks through a bounded number of events, and may have fewer than `limit`, or none, and a `next`. With `actor`, what this operator did, also to users who are gone.',
    query: AllEventsQuery,
    data: pageJson('events', v.object({ userId: v.string(), ...EventForOperatorsJson.entries })),
    execute: (deps, { query: { before = null, limit = DEFAULT_LIMIT, ...only } }) =>
      accounts.listAllEvents(deps)({ before, limit, ...only }),
    page: {
      ...{ path: '/office/events', name: 'Events', render: eventsPage },
      userIds: ({ events }) => events.map(({ userId }) => userId),
      suggestions: ({ records }) => listActors(records, 20),
    },
  }),
  invitations: act({
    at: 'GET /invitations',
    summary: 'List the invitations that were neither used nor have expired',
    data: v.object({ invitations: v.array(InvitationJson) }),
    requires: 'mail',
    execute: async ({ records, clock }) => ({
      invitations: await listInvitations(records, clock.now(), MAX_INVITATIONS),
    }),
    page: { path: '/office/invitations', name: 'Invitations', render: invitationsPage },
  }),
  webhooks: act({
    at: 'GET /webhooks',
    summary: 'List the webhooks, what waits for them, and some of what failed',
    description: '`waiting` and `givenUp` are at most a thousand together.',
    data: v.object({ webhooks: v.array(WebhookJson) }),
    async execute({ records }) {
      const all = (await listWebhooks(records)).map(async ({ types, ...webhook }) => ({
        ...{ ...webhook, types: types && [...types] },
        ...(await summarizeDeliveries(records, webhook.id)),
      }));
      return { webhooks: await Promise.all(all) };
    },
    page: {
      ...{ path: '/office/webhooks', name: 'Webhooks', render: webhooksPage },
      userIds: ({ webhooks }) => webhooks.flatMap(({ failures }) => failures.map(({ userId }) => userId)),
    },
  }),
} as const satisfies Readonly<Record<string, Act>>;

type ShownSettings = v.InferInput<typeof SettingJson>[];

export const settingsRead = (settings: ShownSettings) =>
  act({
    at: 'GET /settings',
    summary: 'List what the service is set to, without secrets',
    description: 'A `value` of `null` is hidden, such as a secret: `isSet` says whether there is one.',
    data: v.object({ settings: v.array(SettingJson) }),
    execute: async () => ({ settings }),
    page: { path: '/office/settings', name: 'Settings', render: settingsPage },
  });

export const exportUser = (deps: Pick<Core, 'clock'> & Stores) => {
  const exportOnce = exportOneAtATime(accounts.exportAccountAsOperator(deps));
  return act({
    at: 'GET /users/:id/export',
    summary: 'Return everything that is stored about a user, to hand over to them',
    data: ExportJson,
    execute: (_deps, { id }) => exportOnce(id),
  });
};
