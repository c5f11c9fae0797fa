import type { Origin } from '../domain/event.ts';
import type { Message } from '../domain/message.ts';
import type { TokenStanding } from '../domain/token-standing.ts';

/** What became of an attempt to send a message. `dropped`: there was nothing to send. `failed`: it is tried again. */
export type AttemptOutcome = 'sent' | 'failed' | 'refused' | 'given-up' | 'dropped';

/** What use cases report to the log and the metrics, by name, with its details. No response depends on it. */
export type Reports = {
  /**
   * The outcome of a refresh with a verified token; nothing when it fails before that is known. Also `reused` when a session ends though a
   * token of another one decides the outcome.
   */
  refresh: [outcome: 'rotated' | TokenStanding];
  /** The log-in to an account that exists is refused before a session is opened. */
  'login-refused': [userId: string, origin: Origin];
  /** A password hash could not be renewed with the present cost. */
  'rehash-failed': [error: unknown];
  mail: [outcome: AttemptOutcome, message: Message, error?: unknown];
};

/** Reports something. Never throws, and takes no time: what is reported may depend on whether an account exists. */
export type Report = <Name extends keyof Reports>(name: Name, ...details: Reports[Name]) => void;
