import type { Origin } from '../domain/event.ts';
import type { Message } from '../domain/message.ts';
import type { TokenStatus } from '../domain/tokens.ts';
import type { Delivery } from '../domain/webhook.ts';

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
