import * as v from 'valibot';
import { LOGIN_METHOD_NAMES } from '../../domain/assurance.ts';
import { EVENT_KINDS, SESSION_ENDINGS } from '../../domain/event.ts';
import { flags, nullableTexts, nullableTimes, Timestamp, texts, times } from './fields.ts';

/** Without the ids of its tokens. */
export const SessionJson = v.pipe(
  v.object({
    id: v.string(),
    ...times('createdAt', 'lastUsedAt'),
    name: v.nullable(v.pipe(v.string(), v.examples(['Firefox on Windows']))),
    ...nullableTexts('userAgent', 'address'),
    binding: v.picklist(['none', 'device', 'browser']),
    ...flags('current', 'remembered'),
  }),
  v.title('Session'),
);

const identity = {
  ...{ ...texts('id', 'provider'), ...nullableTexts('email') },
  ...{ ...times('createdAt'), ...nullableTimes('lastUsedAt') },
};

/** With the names that the provider has for its user and itself. */
export const StoredIdentityJson = v.object({ ...identity, ...texts('issuer', 'subject') });

export const IdentityJson = v.pipe(v.object(identity), v.title('Identity'));

const stored = {
  ...{ id: v.string(), kind: v.picklist(EVENT_KINDS), at: Timestamp, count: v.number() },
  reason: v.nullable(v.picklist(SESSION_ENDINGS)),
  method: v.nullable(v.picklist(LOGIN_METHOD_NAMES)),
  ...nullableTexts('sessionId', 'requestId', 'userAgent', 'address', 'note'),
  actor: v.nullable(v.literal('operator')),
};

export const StoredEventJson = v.object(stored);

export const EventJson = v.pipe(v.object({ ...stored, deviceName: v.nullable(v.string()) }), v.title('Event'));

export const EventsPage = v.object({ events: v.array(EventJson), next: v.nullable(v.string()) });
