import type { AccountEvent } from '../../domain/event.ts';
import type { Link } from '../../domain/link.ts';
import type { Message } from '../../domain/message.ts';
import type { Session } from '../../domain/session.ts';
import type { User } from '../../domain/user.ts';
import type { EventRepository } from '../ports/event-repository.ts';
import type { Stores } from '../ports/unit-of-work.ts';

/** Everything that is stored about a user, without secrets: no hash, no id of a token. Times are epoch milliseconds. */
export type AccountData = {
  readonly user: Omit<User, 'passwordHash'>;
  /** The live ones. */
  readonly sessions: (Pick<Session, 'id' | 'createdAt' | 'expiresAt' | 'userAgent' | 'address'> & {
    readonly lastUsedAt: number;
  })[];
  /** The latest first. */
  readonly events: Omit<AccountEvent, 'userId'>[];
  /** The live ones. */
  readonly links: Omit<Link, 'userId' | 'tokenHash'>[];
  /** Those that are not sent yet. */
  readonly messages: Omit<Message, 'userId' | 'attempts'>[];
};

const PAGE_SIZE = 1_000;

/**
 * Lists the fields that are given out, so that a new field is private by default.
 * @param maxEvents the latest events, at most this many.
 */
export const accountData = async (
  stores: Omit<Stores, 'users'>,
  user: User,
  now: number,
  maxEvents = Number.POSITIVE_INFINITY,
): Promise<AccountData> => {
  const [sessions, events, links, messages] = await Promise.all([
    stores.sessions.listByUser(user.id, now),
    latestEvents(stores.events, user.id, maxEvents),
    stores.links.listByUser(user.id, now),
    stores.outbox.listByUser(user.id),
  ]);
  return {
    user: userData(user),
    sessions: sessions.map(({ id, createdAt, rotatedAt, expiresAt, userAgent, address }) => ({
      id,
      createdAt,
      lastUsedAt: rotatedAt,
      expiresAt,
      userAgent,
      address,
    })),
    events,
    links: links.map(({ purpose, email, createdAt, expiresAt }) => ({ purpose, email, createdAt, expiresAt })),
    messages: messages.map(({ id, kind, to, email, origin, createdAt }) => ({
      id,
      kind,
      to,
      email,
      origin,
      createdAt,
    })),
  };
};

/** A user without the hash of the password. */
export const userData = (user: User): AccountData['user'] => ({
  id: user.id,
  username: user.username,
  email: user.email,
  createdAt: user.createdAt,
  updatedAt: user.updatedAt,
  passwordChangedAt: user.passwordChangedAt,
  emailVerifiedAt: user.emailVerifiedAt,
  disabledAt: user.disabledAt,
});

/** The latest events of a user, the latest first. @param limit at most this many. */
export const latestEvents = async (
  events: EventRepository,
  userId: string,
  limit = Number.POSITIVE_INFINITY,
): Promise<AccountData['events']> => {
  const found: Omit<AccountEvent, 'userId'>[] = [];
  let before: string | null = null;
  for (;;) {
    const size = Math.min(PAGE_SIZE, limit - found.length);
    const page: readonly AccountEvent[] = await events.list({ userId, before, limit: size });
    found.push(...page.map(eventData));
    if (page.length < size || found.length >= limit) return found;
    before = page.at(-1)?.id ?? null;
  }
};

/** An event without the id of the user. */
export const eventData = (event: AccountEvent): AccountData['events'][number] => ({
  id: event.id,
  kind: event.kind,
  at: event.at,
  sessionId: event.sessionId,
  reason: event.reason,
  count: event.count,
  requestId: event.requestId,
  userAgent: event.userAgent,
  address: event.address,
});
