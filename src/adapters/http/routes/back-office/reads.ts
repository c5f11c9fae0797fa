import * as v from 'valibot';
import {
  accountData,
  existingUser,
  exportAccountAsOperator,
  listEventsAsOperator,
  userData,
} from '../../../../application/accounts/account-data.ts';
import { countUsers, listAllEvents, listUsers } from '../../../../application/accounts/list-accounts.ts';
import type { Clock } from '../../../../application/ports/clock-and-ids.ts';
import type { Stores } from '../../../../application/storage/stores.ts';
import { INVITATIONS_AT_MOST } from '../../../../domain/invitation.ts';
import { EMAIL_MAX_LENGTH } from '../../../../domain/user.ts';
import { DEFAULT_LIMIT, Id, IdParams, Limit } from '../../../json/fields.ts';
import { type Route, route } from '../../routing/define-route.ts';
import { EventsQuery } from '../accounts/account.ts';
import { ExportJson, exportOneAtATime, SessionsJson } from '../accounts/export.ts';
import { EventOfOperatorsJson, InvitationJson, READS, UserOfOperatorsJson } from './fields.ts';

const UsersQuery = v.strictObject({
  contains: v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(EMAIL_MAX_LENGTH), v.examples(['example.org']))),
  newest: v.optional(v.picklist(['true', 'false'])),
  cursor: v.optional(Id),
  limit: v.optional(Limit),
});

const AllEventsQuery = v.strictObject({
  before: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^\d{1,15}-[0-9A-Z]{26}$/, 'must be `next` of the page before'),
      v.examples(['1795687427000-01M805M0DQRNB7PKSRES70K5MB']),
    ),
  ),
  limit: v.optional(Limit),
});

type ReadDeps = Stores & { readonly clock: Clock; readonly hasMail: boolean };

/** What operators may know: one user, all of them, and what happened to them. ADR 0031. */
export const readRoutes = (deps: ReadDeps): Route[] => {
  const exported = exportOneAtATime(exportAccountAsOperator(deps));
  const events = listEventsAsOperator(deps);
  return [
    route(
      {
        ...READS,
        name: 'operators-user',
        path: '/users/:id',
        summary: 'Return a user',
        request: { params: IdParams },
        response: { data: UserOfOperatorsJson },
      },
      async ({ params }) => userData(await existingUser(deps, params.id)),
    ),
    route(
      {
        ...READS,
        name: 'operators-user-events',
        path: '/users/:id/events',
        summary: 'List what happened to a user, the latest first, and which operator did it',
        request: { params: IdParams, query: EventsQuery },
        response: { data: v.object({ events: v.array(EventOfOperatorsJson), next: v.nullable(v.string()) }) },
      },
      ({ params, query: { before = null, limit = DEFAULT_LIMIT } }) => events(params.id, { before, limit }),
    ),
    route(
      {
        ...READS,
        name: 'operators-export-user',
        path: '/users/:id/export',
        summary: 'Return everything that is stored about a user, to hand over to them',
        request: { params: IdParams },
        response: { data: ExportJson },
      },
      ({ params }) => exported(params.id),
    ),
    route(
      {
        ...READS,
        name: 'operators-sessions',
        path: '/users/:id/sessions',
        summary: 'List the sessions of a user',
        request: { params: IdParams },
        response: { data: v.object({ sessions: SessionsJson }) },
      },
      async ({ params }) => {
        const { sessions } = await accountData(deps, await existingUser(deps, params.id), deps.clock.now());
        return { sessions };
      },
    ),
    // After `/users/:id`: of the routes that match `/users/count`, the router prefers the last one.
    route(
      {
        ...READS,
        name: 'operators-users',
        path: '/users',
        summary: 'List users, the newest first, or those whose name or address contains a text',
        description:
          'A text of one or two characters finds the names and addresses that begin with it, in their alphabetical order. Letter case does not matter.',
        request: { query: UsersQuery },
        response: { data: v.object({ users: v.array(UserOfOperatorsJson), next: v.nullable(v.string()) }) },
      },
      async ({ query: { contains = null, newest, cursor = null, limit = DEFAULT_LIMIT } }) => {
        const page = { contains, after: cursor, newestFirst: newest !== 'false', limit };
        const { users, next } = await listUsers(deps)(page);
        return { users: users.map(userData), next };
      },
    ),
    route(
      {
        ...READS,
        name: 'operators-count',
        path: '/users/count',
        summary: 'Count the users',
        response: { data: v.object({ count: v.number() }) },
      },
      async () => ({ count: await countUsers(deps)() }),
    ),
    route(
      {
        ...READS,
        name: 'operators-events',
        path: '/events',
        summary: 'List what happened to all users, the latest first, and which operator did it',
        request: { query: AllEventsQuery },
        response: {
          data: v.object({
            events: v.array(v.object({ userId: v.string(), ...EventOfOperatorsJson.entries })),
            next: v.nullable(v.string()),
          }),
        },
      },
      ({ query: { before = null, limit = DEFAULT_LIMIT } }) => listAllEvents(deps)({ before, limit }),
    ),
    ...(deps.hasMail
      ? [
          route(
            {
              ...READS,
              name: 'operators-invitations',
              path: '/invitations',
              summary: 'List the invitations that were neither used nor have expired',
              response: { data: v.object({ invitations: v.array(InvitationJson) }) },
            },
            async () => ({ invitations: await deps.invitations.list(deps.clock.now(), INVITATIONS_AT_MOST) }),
          ),
        ]
      : []),
  ];
};
