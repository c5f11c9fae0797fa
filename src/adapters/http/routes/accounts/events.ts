import * as v from 'valibot';
import { listEvents } from '../../../../application/accounts/account-data.ts';
import type { Service } from '../../../../application/service.ts';
import { EVENT_KINDS, SESSION_ENDINGS } from '../../../../domain/event.ts';
import { deviceNames } from '../../../json/device-names.ts';
import { Timestamp } from '../../../json/public-user.ts';
import { type Route, route } from '../../routing/define-route.ts';
import { Id } from '../../routing/fields.ts';

const MAX_LIMIT = 100;
export const DEFAULT_LIMIT = 50;

const stored = {
  id: v.string(),
  kind: v.picklist(EVENT_KINDS),
  at: Timestamp,
  sessionId: v.nullable(v.string()),
  reason: v.nullable(v.picklist(SESSION_ENDINGS)),
  count: v.number(),
  requestId: v.nullable(v.string()),
  userAgent: v.nullable(v.string()),
  address: v.nullable(v.string()),
  note: v.nullable(v.string()),
  actor: v.nullable(v.literal('operator')),
};

export const StoredEventJson = v.object(stored);

/** An event with a name for its device. */
export const EventJson = v.pipe(
  v.object({ ...stored, deviceName: v.nullable(v.string()) }),
  v.title('Event'),
  v.examples([
    {
      id: '01M805M0EKQ8Z4C1W2V3N5T6R7',
      kind: 'session-ended',
      at: '2026-11-22T10:02:11.731Z',
      sessionId: '01M805M0DQRNB7PKSRES70K5MB',
      reason: 'password-changed',
      count: 1,
      requestId: '01M805M0EJ6Y8B9D0F1G2H3J4K',
      userAgent: 'curl/7.88.1',
      address: '127.0.0.0/24',
      note: null,
      actor: null,
      deviceName: 'curl',
    },
  ]),
);

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

export const EventsPage = v.object({ events: v.array(EventJson), next: v.nullable(v.string()) });

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
