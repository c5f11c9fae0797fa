import { type DomainEvent, newEvent, type Origin } from '../domain/event.ts';
import { type MessageDraft, newMessage } from '../domain/message.ts';
import type { Clock } from './ports/clock.ts';
import type { IdGenerator } from './ports/id-generator.ts';
import type { Stores, Transactions } from './ports/transactions.ts';

export type RecordDeps = { readonly clock: Clock; readonly ids: IdGenerator };

/** The dependencies of a use case that changes something and records it. */
export type ChangeDeps = RecordDeps & { readonly transactions: Transactions };

/** Stores events, in the transaction of the change. */
export const record = (
  { clock, ids }: RecordDeps,
  { events }: Pick<Stores, 'events'>,
  origin: Origin,
  domainEvents: readonly DomainEvent[],
): Promise<void> => {
  const at = clock.now();
  return events.add(domainEvents.map((event) => newEvent(event, { id: ids.next(), at, origin })));
};

/** Puts messages into the outbox, in the transaction of the change that they report. */
export const enqueue = async (
  { clock, ids }: RecordDeps,
  { outbox }: Pick<Stores, 'outbox'>,
  origin: Origin,
  messages: readonly MessageDraft[],
): Promise<void> => {
  const at = clock.now();
  await outbox.add(messages.map((message) => newMessage(message, { id: ids.next(), at, origin })));
};
