import { type DomainEvent, newEvent, type Origin } from '../domain/event.ts';
import { type MessageDraft, newMessage } from '../domain/message.ts';
import { accountKind, type User } from '../domain/user.ts';
import type { UserRepository } from './ports/user-repository.ts';
import type { Sources } from './service.ts';
import { addEvents } from './storage/events.ts';
import { addMessages } from './storage/outbox.ts';
import type { Stores } from './storage/stores.ts';

/** Checked by a use case before it writes, so that cancelled work has no effect. An `AbortSignal` is one. */
export type Cancellation = { throwIfAborted(): void };

export const NEVER_CANCELLED: Cancellation = { throwIfAborted: () => undefined };

/** @param account an email address or a username. */
export const findByAccount = ({ users }: { readonly users: UserRepository }, account: string): Promise<User | null> =>
  accountKind(account) === 'email' ? users.findByEmail(account) : users.findByUsername(account);

/** A page of a list that was asked for one more. @returns also its last item, if there is a next page. */
export const pageOf = <Item>(found: readonly Item[], limit: number) => {
  const page = found.slice(0, limit);
  return { page, last: found.length > limit ? page.at(-1) : undefined };
};

/** These fields and no others: a new one is private until it is named. */
export const pick = <Row, Name extends keyof Row>(row: Row, ...names: readonly Name[]): Pick<Row, Name> =>
  Object.fromEntries(names.map((name) => [name, row[name]])) as Pick<Row, Name>;

export const record = (
  deps: Sources,
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
  { clock, ids }: Sources,
  stores: Stores,
  origin: Origin,
  messages: readonly MessageDraft[],
): Promise<void> => {
  const at = clock.now();
  await addMessages(
    stores,
    messages.map((message) => newMessage(message, { id: ids.next(), at, origin })),
  );
};
