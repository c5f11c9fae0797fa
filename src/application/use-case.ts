import { type DomainEvent, newEvent, type Origin } from '../domain/event.ts';
import { type MessageDraft, newMessage } from '../domain/message.ts';
import { accountKind, type User } from '../domain/user.ts';
import type { UserRepository } from './ports/user-repository.ts';
import type { Core } from './service.ts';
import type { Stores } from './storage/stores.ts';

/** Checked by a use case before it writes, so that cancelled work has no effect. An `AbortSignal` is one. */
export type Cancellation = { throwIfAborted(): void };

export const NEVER_CANCELLED: Cancellation = { throwIfAborted: () => undefined };

/** @param account an email address or a username. */
export const findByAccount = ({ users }: { readonly users: UserRepository }, account: string): Promise<User | null> =>
  accountKind(account) === 'email' ? users.findByEmail(account) : users.findByUsername(account);

export const record = (
  { clock, ids }: Pick<Core, 'clock' | 'ids'>,
  { events }: Pick<Stores, 'events'>,
  origin: Origin,
  domainEvents: readonly DomainEvent[],
  isListed?: boolean,
): Promise<void> => {
  const at = clock.now();
  return events.add(
    domainEvents.map((event) => newEvent(event, { id: ids.next(), at, origin })),
    isListed,
  );
};

/** Puts messages into the outbox, in the transaction of the change that they report. */
export const enqueue = async (
  { clock, ids }: Pick<Core, 'clock' | 'ids'>,
  { outbox }: Pick<Stores, 'outbox'>,
  origin: Origin,
  messages: readonly MessageDraft[],
): Promise<void> => {
  const at = clock.now();
  await outbox.add(messages.map((message) => newMessage(message, { id: ids.next(), at, origin })));
};
