import type { Amr } from '../../domain/assurance.ts';
import { type Binding, bindingOf } from '../../domain/device-binding.ts';
import { type AccountEvent, EVENTS_KEPT } from '../../domain/event.ts';
import type { Factor } from '../../domain/factor.ts';
import type { Link } from '../../domain/link.ts';
import type { Message } from '../../domain/message.ts';
import type { Passkey } from '../../domain/passkey.ts';
import type { Session } from '../../domain/session.ts';
import type { User } from '../../domain/user.ts';
import type { EventRepository } from '../ports/event-repository.ts';
import type { Stores } from '../ports/unit-of-work.ts';

/** Everything that is stored about a user, except the events and secrets (hashes, ids of tokens). Times are epoch milliseconds. */
export type AccountData = {
  readonly user: Omit<User, 'passwordHash'>;
  /** The live ones. */
  readonly sessions: (Pick<Session, 'id' | 'createdAt' | 'expiresAt' | 'authenticatedAt' | 'userAgent' | 'address'> & {
    readonly amr: Amr[];
    readonly lastUsedAt: number;
    readonly binding: Binding;
  })[];
  /** The live ones. */
  readonly links: Omit<Link, 'userId' | 'tokenHash'>[];
  readonly passkeys: (Omit<Passkey, 'userId' | 'publicKey' | 'userHandle' | 'counter' | 'transports'> & {
    readonly transports: string[];
  })[];
  /** Without their secrets. */
  readonly factors: Omit<Factor, 'userId' | 'secret' | 'lastStep'>[];
  readonly recoveryCodes: { readonly left: number };
  /** Those that are not sent yet. */
  readonly messages: Omit<Message, 'userId'>[];
};

/** Names each field that it returns, so that a new field is private by default. */
export const accountData = async (
  stores: Omit<Stores, 'users' | 'events'>,
  user: User,
  now: number,
): Promise<AccountData> => {
  const [sessions, links, passkeys, factors, left, messages] = await Promise.all([
    stores.sessions.listByUser(user.id, now),
    stores.links.listByUser(user.id, now),
    stores.passkeys.listByUser(user.id),
    stores.factors.listByUser(user.id),
    stores.factors.countCodes(user.id),
    stores.outbox.listByUser(user.id),
  ]);
  return {
    user: userData(user),
    sessions: sessions.map((session) => ({
      id: session.id,
      createdAt: session.createdAt,
      lastUsedAt: session.rotatedAt,
      expiresAt: session.expiresAt,
      authenticatedAt: session.authenticatedAt,
      amr: [...session.amr],
      userAgent: session.userAgent,
      address: session.address,
      binding: bindingOf(session),
    })),
    links: links.map(({ purpose, email, createdAt, expiresAt }) => ({ purpose, email, createdAt, expiresAt })),
    passkeys: passkeys.map((passkey) => ({
      id: passkey.id,
      credentialId: passkey.credentialId,
      transports: [...passkey.transports],
      aaguid: passkey.aaguid,
      isSynced: passkey.isSynced,
      isBackedUp: passkey.isBackedUp,
      name: passkey.name,
      createdAt: passkey.createdAt,
      lastUsedAt: passkey.lastUsedAt,
    })),
    factors: factors.map(({ id, createdAt, confirmedAt }) => ({ id, createdAt, confirmedAt })),
    recoveryCodes: { left },
    messages: messages.map(({ id, kind, to, email, origin, createdAt, attempts }) => ({
      id,
      kind,
      to,
      email,
      origin,
      createdAt,
      attempts,
    })),
  };
};

export const userData = (user: User): AccountData['user'] => ({
  id: user.id,
  username: user.username,
  email: user.email,
  createdAt: user.createdAt,
  updatedAt: user.updatedAt,
  passwordChangedAt: user.passwordChangedAt,
  emailVerifiedAt: user.emailVerifiedAt,
  disabledAt: user.disabledAt,
  secondFactorAt: user.secondFactorAt,
  attributes: user.attributes,
  locale: user.locale,
});

export type EventData = Omit<AccountEvent, 'userId'>;

/** The events of a user, the latest first. @param limit by default all: a user has some more than `EVENTS_KEPT` at most. */
export const eventsData = async (
  events: EventRepository,
  userId: string,
  limit = 2 * EVENTS_KEPT,
): Promise<EventData[]> => (await events.list({ userId, before: null, limit })).map(eventData);

const eventData = (event: AccountEvent): EventData => ({
  id: event.id,
  kind: event.kind,
  at: event.at,
  sessionId: event.sessionId,
  reason: event.reason,
  count: event.count,
  requestId: event.requestId,
  userAgent: event.userAgent,
  address: event.address,
  actor: event.actor,
});
