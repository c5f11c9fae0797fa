import * as v from 'valibot';
import { EVENT_KINDS, SESSION_ENDINGS } from '../../domain/event.ts';
import { Timestamp } from './public-user.ts';

/** Without the ids of its tokens. */
export const SessionJson = v.pipe(
  v.object({
    id: v.string(),
    createdAt: Timestamp,
    lastUsedAt: Timestamp,
    name: v.nullable(v.string()),
    userAgent: v.nullable(v.string()),
    address: v.nullable(v.string()),
    binding: v.picklist(['none', 'device', 'browser']),
    current: v.boolean(),
    remembered: v.boolean(),
  }),
  v.title('Session'),
  v.examples([
    {
      id: '01M805M0DQRNB7PKSRES70K5MB',
      createdAt: '2026-11-21T23:03:48.407Z',
      lastUsedAt: '2026-11-21T23:03:48.458Z',
      name: 'curl',
      userAgent: 'curl/7.88.1',
      address: '127.0.0.0/24',
      binding: 'none',
      current: true,
      remembered: false,
    },
  ]),
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

export const IdentityJson = v.pipe(
  v.object(identity),
  v.title('Identity'),
  v.examples([
    {
      id: '01M805M0DQRNB7PKSRES70K5MB',
      provider: 'google',
      email: 'ada@example.org',
      createdAt: '2026-11-21T23:03:48.407Z',
      lastUsedAt: '2026-11-22T10:02:11.731Z',
    },
  ]),
);

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

export const EventsPage = v.object({ events: v.array(EventJson), next: v.nullable(v.string()) });
