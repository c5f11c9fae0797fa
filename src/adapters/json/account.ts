import * as v from 'valibot';
import { LOGIN_METHOD_NAMES } from '../../domain/assurance.ts';
import { EVENT_KINDS, SESSION_ENDINGS } from '../../domain/event.ts';
import { nullableTexts, nullableTimes, Timestamp, texts, times } from './fields.ts';

const NullableText = v.nullable(v.string());
const UserAgent = v.pipe(NullableText, v.description('`User-Agent` of the last request, at most 200 bytes.'));
const Address = v.pipe(NullableText, v.description('Its network: /24 of IPv4, /48 of IPv6.'));

export const SessionJson = v.pipe(
  v.object({
    id: v.string(),
    ...times('createdAt', 'lastUsedAt'),
    name: v.nullable(v.pipe(v.string(), v.examples(['Firefox on Windows']))),
    userAgent: UserAgent,
    address: Address,
    binding: v.pipe(
      v.picklist(['none', 'device', 'browser']),
      v.description('What holds the key of its device: a page or an app (`device`), or the browser itself.'),
    ),
    current: v.pipe(v.boolean(), v.description('Whether the access token of the request belongs to it.')),
    remembered: v.pipe(
      v.boolean(),
      v.description('Whether it is no session, but a device on which the password is enough.'),
    ),
  }),
  v.title('Session'),
);

const identityMembers = {
  ...{ ...texts('id', 'provider'), ...nullableTexts('email') },
  ...{ ...times('createdAt'), ...nullableTimes('lastUsedAt') },
};

/** An identity, with `issuer`, the provider's name for itself, and `subject`, the provider's name for the user. */
export const StoredIdentityJson = v.object({ ...identityMembers, ...texts('issuer', 'subject') });

export const IdentityJson = v.pipe(v.object(identityMembers), v.title('Identity'));

const eventMembers = {
  id: v.string(),
  kind: v.picklist(EVENT_KINDS),
  at: Timestamp,
  sessionId: v.pipe(NullableText, v.description('The session, or the remembered device, that it is about.')),
  reason: v.pipe(v.nullable(v.picklist(SESSION_ENDINGS)), v.description('Why it ended.')),
  method: v.pipe(v.nullable(v.picklist(LOGIN_METHOD_NAMES)), v.description('How the log-in was made.')),
  count: v.pipe(v.number(), v.description('How often it happened within an hour.')),
  requestId: v.nullable(v.string()),
  userAgent: UserAgent,
  address: Address,
  note: v.pipe(NullableText, v.description('What the operator says about it.')),
  actor: v.nullable(v.literal('operator')),
};

export const StoredEventJson = v.object(eventMembers);

export const EventJson = v.pipe(v.object({ ...eventMembers, deviceName: v.nullable(v.string()) }), v.title('Event'));

export const EventsPage = v.object({
  events: v.array(EventJson),
  next: v.pipe(NullableText, v.description('What continues the list, as `before`.')),
});
