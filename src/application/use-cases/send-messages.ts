import { isGivenUp, type Message, retryDelay } from '../../domain/message.ts';
import type { PrepareMailDeps } from '../mail/prepare-mail.ts';
import type { Mailer } from '../ports/mailer.ts';
import type { Outbox } from '../ports/outbox.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import type { Report } from '../reports.ts';

export type SendMessagesDeps = PrepareMailDeps & {
  readonly outbox: Outbox;
  readonly unitOfWork: UnitOfWork;
  readonly mailer: Mailer;
  /** From 0 to 1. */
  readonly random: () => number;
  readonly report?: Report;
};

/** Milliseconds: longer than an attempt can take, so that no other instance claims a message that is being sent. */
const LEASE = 5 * 60_000;

/**
 * Begins to send the messages that are due, at most `limit`, at least once each: a message is removed when it was sent, and sent again if
 * the process ends before that. Messages that wait for a poll are sent if they were due at `lastPolledAt`; without it, all are.
 * @returns a promise for each attempt, which never rejects
 * @throws AppError DB_QUERY_FAILED when no message could be claimed
 */
export const sendMessages =
  (deps: SendMessagesDeps) =>
  async (limit: number, lastPolledAt?: number): Promise<readonly Promise<void>[]> => {
    const now = deps.clock.now();
    const claimed = await deps.outbox.claim({ now, lastPolledAt, until: now + LEASE, limit });
    return claimed.map((message) => attempt(deps, message));
  };

const attempt = async (deps: SendMessagesDeps, message: Message): Promise<void> => {
  const { outbox, unitOfWork, mailer, report } = deps;
  try {
    // The templates are loaded with the first message: no start needs them (ADR 0035).
    const { prepareMail } = await import('../mail/prepare-mail.ts');
    const mail = await unitOfWork.run((stores) => prepareMail(deps, stores, message));
    const outcome = mail === null ? 'dropped' : await mailer.send(mail);
    await outbox.remove([message.id]);
    report?.('mail', outcome, message);
  } catch (error) {
    await tryAgainLater(deps, message, error);
  }
};

const tryAgainLater = async (deps: SendMessagesDeps, message: Message, error: unknown): Promise<void> => {
  const { outbox, clock, random, report } = deps;
  const now = clock.now();
  const outcome = isGivenUp(message, now) ? 'given-up' : 'failed';
  try {
    if (outcome === 'given-up') await outbox.remove([message.id]);
    else await outbox.postpone(message.id, now + retryDelay(message.attempts, random()));
  } catch {
    // The store is unavailable. The message is claimed again when its lease ends.
  }
  report?.('mail', outcome, message, error);
};
