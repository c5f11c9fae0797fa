import * as v from 'valibot';
import { listEvents } from '../../../../application/accounts/account-data.ts';
import type { Service } from '../../../../application/service.ts';
import { EventsPage } from '../../../json/account.ts';
import { deviceNames } from '../../../json/device-names.ts';
import { Id } from '../../../json/fields.ts';
import { type Route, route } from '../../routing/define-route.ts';

const MAX_LIMIT = 100;
export const DEFAULT_LIMIT = 50;

export const Limit = v.pipe(
  v.string(),
  v.regex(/^\d{1,3}$/, 'must be a whole number'),
  // Before the transformation, after which the document of a request knows nothing.
  v.metadata({ jsonSchema: { type: 'integer', minimum: 1, maximum: MAX_LIMIT, default: DEFAULT_LIMIT } }),
  v.transform(Number),
  v.minValue(1),
  v.maxValue(MAX_LIMIT),
);

export const EventsQuery = v.strictObject({ before: v.optional(Id), limit: v.optional(Limit) });

/** What happened to the account of the user. ADR 0011. */
export const eventRoutes = (deps: Service): Route[] => {
  const list = listEvents(deps);
  return [
    route(
      {
        name: 'events',
        tag: 'account',
        summary: 'List what happened to the account, the latest first',
        method: 'GET',
        path: '/users/me/events',
        request: { query: EventsQuery },
        response: { data: EventsPage },
      },
      async ({ caller, query: { before = null, limit = DEFAULT_LIMIT } }) => {
        const { events, next } = await list(caller, { before, limit });
        const nameOf = await deviceNames();
        return { events: events.map((event) => ({ ...event, deviceName: nameOf(event.userAgent) })), next };
      },
    ),
  ];
};
