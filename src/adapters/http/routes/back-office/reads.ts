import * as v from 'valibot';
import {
  accountData,
  existingUser,
  exportAccountAsOperator,
  listAllEvents,
  listEventsAsOperator,
  userData,
} from '../../../../application/accounts/account-data.ts';
import { countUsers, listUsers, USER_FILTER } from '../../../../application/accounts/list-users.ts';
import type { Core } from '../../../../application/service.ts';
import { listInvitations } from '../../../../application/storage/credentials.ts';
import type { Stores } from '../../../../application/storage/records.ts';
import { INVITATIONS_AT_MOST } from '../../../../domain/registration.ts';
import { EMAIL_MAX_LENGTH } from '../../../../domain/user.ts';
import { DEFAULT_LIMIT, Limit } from '../../../json/fields.ts';
import { invitationsPage } from '../../pages/office/lists.ts';
import { usersPage } from '../../pages/office/users.ts';
import { EventsQuery } from '../accounts/account.ts';
import { ExportJson, exportOneAtATime, SessionsJson } from '../accounts/export.ts';
import { type Act, act } from './act.ts';
import { EventOfOperatorsJson, InvitationJson, UserOfOperatorsJson } from './fields.ts';

const AN_ID = '01M805M0DQRNB7PKSRES70K5MB';

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
  cursor: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^(?:\d{1,15}-)?[0-9A-Z]{26}$/, 'must be `next` of the page before'),
      v.examples([AN_ID]),
    ),
  ),
  limit: v.optional(Limit),
});

const AllEventsQuery = v.strictObject({
  before: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^\d{1,15}-[0-9A-Z]{26}$/, 'must be `next` of the page before'),
      v.examples([`1795687427000-${AN_ID}`]),
    ),
  ),
  limit: v.optional(Limit),
});

const pageOf = <Name extends string, Item extends v.GenericSchema>(name: Name, item: Item) =>
  v.object({ ...v.entriesFromList([name], v.array(item)), next: v.nullable(v.string()) });

/** What operators may know: one user, all of them, and what happened to them. ADR 0031. */
export const READS = {
  user: act({
    at: 'GET /users/:id',
    summary: 'Return a user',
    data: UserOfOperatorsJson,
    run: async (deps, { id }) => userData(await existingUser(deps, id)),
  }),
  'user-events': act({
    at: 'GET /users/:id/events',
    summary: 'List what happened to a user, the latest first, and which operator did it',
    query: EventsQuery,
    data: pageOf('events', EventOfOperatorsJson),
    run: (deps, { id, query: { before = null, limit = DEFAULT_LIMIT } }) =>
      listEventsAsOperator(deps)(id, { before, limit }),
  }),
  sessions: act({
    at: 'GET /users/:id/sessions',
    summary: 'List the sessions of a user',
    data: v.object({ sessions: SessionsJson }),
    run: async (deps, { id }) => accountData(deps, await existingUser(deps, id), deps.clock.now()),
  }),
  // After `/users/:id`: of the routes that match `/users/count`, the router prefers the last one.
  users: act({
    at: 'GET /users',
    summary: 'List users, the newest first, or those whose name or address contains a text',
    description:
      'A text of one or two characters finds the names and addresses that begin with it, in their alphabetical order. Letter case does not matter. With `only`, a page looks through a bounded number of rows, and may have fewer users than `limit`, or none, and a `next`. `logged-in` lists by the last log-in: a further page may have a user again.',
    query: UsersQuery,
    data: pageOf('users', UserOfOperatorsJson),
    async run(deps, { query: { contains = null, only, newest, cursor = null, limit = DEFAULT_LIMIT } }) {
      const page = { contains, only, after: cursor, newestFirst: newest !== 'false', limit };
      const { users, next } = await listUsers(deps)(page);
      return { users: users.map(userData), next };
    },
    page: { path: '/office/users', name: 'Users', show: usersPage },
  }),
  count: act({
    at: 'GET /users/count',
    summary: 'Count the users',
    data: v.object({ count: v.number() }),
    run: async (deps) => ({ count: await countUsers(deps)() }),
  }),
  events: act({
    at: 'GET /events',
    summary: 'List what happened to all users, the latest first, and which operator did it',
    query: AllEventsQuery,
    data: pageOf('events', v.object({ userId: v.string(), ...EventOfOperatorsJson.entries })),
    run: (deps, { query: { before = null, limit = DEFAULT_LIMIT } }) => listAllEvents(deps)({ before, limit }),
  }),
  invitations: act({
    at: 'GET /invitations',
    summary: 'List the invitations that were neither used nor have expired',
    data: v.object({ invitations: v.array(InvitationJson) }),
    needs: 'mail',
    run: async (deps) => ({ invitations: await listInvitations(deps.records, deps.clock.now(), INVITATIONS_AT_MOST) }),
    page: { path: '/office/invitations', name: 'Invitations', show: invitationsPage },
  }),
} as const satisfies Readonly<Record<string, Act>>;

/** It waits for other exports. */
export const exportUser = (deps: Pick<Core, 'clock'> & Stores) => {
  const exported = exportOneAtATime(exportAccountAsOperator(deps));
  return act({
    at: 'GET /users/:id/export',
    summary: 'Return everything that is stored about a user, to hand over to them',
    data: ExportJson,
    run: (_deps, { id }) => exported(id),
  });
};
