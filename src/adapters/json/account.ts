import * as v from 'valibot';
import { LOGIN_METHOD_NAMES } from '../../domain/assurance.ts';
import { EVENT_KINDS, SESSION_ENDINGS } from '../../domain/event.ts';
import { Timestamp } from './fields.ts';

/** Without the ids of its tokens. */
export const SessionJson = v.pipe(
  v.object({
    id: v.string(),
    createdAt: Timestamp,
    lastUsedAt: Timestamp,
    name: v.nullable(v.pipe(v.string(), v.examples(['Firefox on Windows']))),
    userAgent: v.nullable(v.string()),
    address: v.nullable(v.string()),
    binding: v.picklist(['none', 'device', 'browser']),
    current: v.boolean(),
    remembered: v.boolean(),
  }),
  v.title('Session'),
);

const identity = {
  id: v.string(),
  provider: v.string(),
  email: v.nullable(v.string()),
  createdAt: Timestamp,
  lastUsedAt: v.nullable(Timestamp),
};

/** With the names that the provider has for its user and itself. */
export const StoredIdentityJson = v.object({ ...identity, issuer: v.string(), subject: v.string() });

export const IdentityJson = v.pipe(v.object(identity), v.title('Identity'));

const stored = {
  id: v.string(),
  kind: v.picklist(EVENT_KINDS),
  at: Timestamp,
  sessionId: v.nullable(v.string()),
  reason: v.nullable(v.picklist(SESSION_ENDINGS)),
  method: v.nullable(v.picklist(LOGIN_METHOD_NAMES)),
  count: v.number(),
  requestId: v.nullable(v.string()),
  userAgent: v.nullable(v.string()),
  address: v.nullable(v.string()),
  note: v.nullable(v.string()),
  actor: v.nullable(v.literal('operator')),
};

export const StoredEventJson = v.object(stored);

export const EventJson = v.pipe(v.object({ ...stored, deviceName: v.nullable(v.string()) }), v.title('Event'));

export const EventsPage = v.object({ events: v.array(EventJson), next: v.nullable(v.string()) });
