import type { Origin } from '../domain/event.ts';
import type { Message } from '../domain/message.ts';
import type { TokenStatus } from '../domain/tokens.ts';
import type { Delivery } from '../domain/webhook.ts';

/** The outcome of an attempt to send a message. `dropped`: there was nothing to send. `failed`: another attempt follows. */
export type AttemptOutcome = 'sent' | 'failed' | 'refused' | 'given-up' | 'dropped';

/** `disabled`: the receiver is gone, or there are too many deliveries for it. */
export const WEBHOOK_OUTCOMES = ['delivered', 'failed', 'given-up', 'disabled'] as const;

/** What use cases report to the log and the metrics: names with their arguments. */
export type Reports = {
  /** The outcome of a request with refresh tokens. `unsent`: the client hung up: its token stays current. `reused` and `unproven` may come beside others. */
  refresh: [outcome: 'rotated' | 'recovered' | 'unsent' | Exclude<TokenStatus, 'recoverable'>];
  /** A log-in to an existing account was refused because of the client, for instance by a wrong password. */
  'login-refused': [userId: string, origin: Origin];
  /** The password of a log-in was right, but its new hash could not be made or stored. */
  'rehash-failed': [error: unknown];
  /** Linking an identity that the browser had kept has failed after a log-in. A refusal to link it is not reported. */
  'link-failed': [error: unknown];
  mail: [outcome: AttemptOutcome, message: Message, error?: unknown];
  webhook: [
    outcome: (typeof WEBHOOK_OUTCOMES)[number],
    delivery: Pick<Delivery, 'webhookId'> & Partial<Delivery>,
    status?: number,
    error?: unknown,
  ];
};

/** Never throws, and returns at once: otherwise the time of a response could show what is reported, for example that an account exists. */
export type Report = <Name extends keyof Reports>(name: Name, ...details: Reports[Name]) => void;
