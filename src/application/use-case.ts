import { type DomainEvent, newEvent, type Origin } from '../domain/event.ts';
import { type Message, type MessageDraft, newMessage } from '../domain/message.ts';
import type { TokenStatus } from '../domain/token-status.ts';
import { accountKind, type User } from '../domain/user.ts';
import type { Delivery } from '../domain/webhook.ts';
import type { Clock, IdGenerator } from './ports/clock-and-ids.ts';
import type { Stores, Transactions } from './ports/transactions.ts';
import type { UserRepository } from './ports/user-repository.ts';

/** Checked by a use case before it writes, so that cancelled work has no effect. An `AbortSignal` is one. */
export type Cancellation = { throwIfAborted(): void };

export type Pause = (time: number) => Promise<unknown>;

export const NEVER_CANCELLED: Cancellation = { throwIfAborted: () => undefined };

/** The outcome of an attempt to send a message. `dropped`: there was nothing to send. `failed`: it is tried again. */
export type AttemptOutcome = 'sent' | 'failed' | 'refused' | 'given-up' | 'dropped';

/** `disabled`: the receiver said that it is gone, or too much waits for it. */
export const WEBHOOK_OUTCOMES = ['delivered', 'failed', 'given-up', 'disabled'] as const;
type WebhookOutcome = (typeof WEBHOOK_OUTCOMES)[number];

/** What use cases report to the log and the metrics: names with their arguments. No response depends on it. */
export type Reports = {
  /**
   * The outcome of a refresh with a verified token. `unsent`: the client has hung up before the response, and its token is current. `reused` is also reported when one session ends, and a token of another one decides the
   * outcome.
   */
  refresh: [outcome: 'rotated' | 'recovered' | 'unsent' | Exclude<TokenStatus, 'recoverable'>];
  /** A log-in to an account that exists was refused before a session was opened. */
  'login-refused': [userId: string, origin: Origin];
  /** A password hash could not be renewed with the present cost. */
  'rehash-failed': [error: unknown];
  /** What the browser has kept of a sign-in could not be linked by a log-in, which has succeeded. */
  'link-failed': [error: unknown];
  mail: [outcome: AttemptOutcome, message: Message, error?: unknown];
  webhook: [
    outcome: WebhookOutcome,
    of: Pick<Delivery, 'webhookId'> & Partial<Delivery>,
    status?: number,
    error?: unknown,
  ];
};

/** Never throws, and returns at once: a report may depend on whether an account exists, which no response time may show. */
export type Report = <Name extends keyof Reports>(name: Name, ...details: Reports[Name]) => void;

export type RecordDeps = { readonly clock: Clock; readonly ids: IdGenerator };

/** @param account an email address or a username. */
export const findByAccount = ({ users }: { readonly users: UserRepository }, account: string): Promise<User | null> =>
  accountKind(account) === 'email' ? users.findByEmail(account) : users.findByUsername(account);

export type ChangeDeps = RecordDeps & { readonly transactions: Transactions };

export const record = (
  { clock, ids }: RecordDeps,
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
  { clock, ids }: RecordDeps,
  { outbox }: Pick<Stores, 'outbox'>,
  origin: Origin,
  messages: readonly MessageDraft[],
): Promise<void> => {
  const at = clock.now();
  await outbox.add(messages.map((message) => newMessage(message, { id: ids.next(), at, origin })));
};
