import { type DomainEvent, newEvent, type Origin } from '../domain/event.ts';
import { type MessageDraft, newMessage } from '../domain/message.ts';
import { accountKind, type User } from '../domain/user.ts';
import type { UserRepository } from './ports/user-repository.ts';
import type { Core } from './service.ts';
import { addEvents } from './storage/events.ts';
import { addMessages } from './storage/outbox.ts';
import type { Stores } from './storage/stores.ts';

/** Checked by a use case before it writes, so that cancelled work has no effect. An `AbortSignal` is one. */
export type Cancellation = { throwIfAborted(): void };

export const NEVER_CANCELLED: Cancellation = { throwIfAborted: () => undefined };

/** @param account an email address or a username. */
export const findByAccount = ({ users }: { readonly users: UserRepository }, account: string): Promise<User | null> =>
  accountKind(account) === 'email' ? users.findByEmail(account) : users.findByUsername(account);

export const record = (
  deps: Pick<Core, 'clock' | 'ids' | 'secrets'>,
  stores: Stores,
  origin: Origin,
  domainEvents: readonly DomainEvent[],
  isListed?: boolean,
): Promise<void> => {
  const at = deps.clock.now();
  const events = domainEvents.map((event) => newEvent(event, { id: deps.ids.next(), at, origin }));
  return addEvents(deps, stores, events, isListed);
};

/** Puts messages into the outbox, in the transaction of the change that they report. */
export const enqueue = async (
  { clock, ids }: Pick<Core, 'clock' | 'ids'>,
  stores: Pick<Stores, 'records' | 'tell'>,
  origin: Origin,
  messages: readonly MessageDraft[],
): Promise<void> => {
  const at = clock.now();
  await addMessages(
    stores,
    messages.map((message) => newMessage(message, { id: ids.next(), at, origin })),
  );
};
