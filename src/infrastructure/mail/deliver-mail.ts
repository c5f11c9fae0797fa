import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { outageLog } from '../../adapters/resilience/with-fallback.ts';
import type { Clock } from '../../application/ports/clock.ts';
import type { sendMessages } from '../../application/use-cases/send-messages.ts';
import type { WakeUp } from './wake-up.ts';

/** Messages that are sent at the same time. */
const CONCURRENCY = 10;
/**
 * Milliseconds between two looks at the outbox at most, for messages that may wait, those of other instances, and those that are tried again.
 * The time is random, and the wake-up does not change it while few wait, so that nobody can have a request answered at a moment of their choice.
 */
const POLL_INTERVAL = 5_000;
/** Milliseconds that mail in progress has when the service stops; and then again, to be put back into the outbox. */
const GRACE = 5_000;

export type DeliverMailDeps = {
  readonly send: ReturnType<typeof sendMessages>;
  /** Is called when messages were added. */
  readonly wakeUp: WakeUp;
  /** Makes attempts in progress fail. */
  readonly abandon: () => void;
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
  /** Called when nothing more is to be sent for now. Never rejects. */
  readonly onIdle?: (() => Promise<void>) | undefined;
};

/** Sends the messages in the outbox until `signal` is aborted. A slow one does not keep the others waiting. */
export const deliverMail = async (
  { send, wakeUp, abandon, clock, logger, onIdle }: DeliverMailDeps,
  signal: AbortSignal,
  { pollInterval = POLL_INTERVAL, grace = GRACE } = {},
): Promise<void> => {
  const inProgress = new Set<Promise<void>>();
  const looks = randomLooks(clock, pollInterval);
  const begin = async (): Promise<number> => {
    const room = CONCURRENCY - inProgress.size;
    const attempts = room === 0 ? [] : await send(room, looks.last());
    for (const attempt of attempts) {
      inProgress.add(attempt);
      attempt.finally(() => {
        inProgress.delete(attempt);
        wakeUp.wake();
      });
    }
    return attempts.length;
  };
  const beginOrWarn = unlessUnreadable(begin, logger);
  signal.addEventListener('abort', () => wakeUp.wake(), { once: true });
  while (!signal.aborted) {
    const begun = await beginOrWarn();
    if (begun > 0 && inProgress.size < CONCURRENCY) continue;
    if (begun === 0) await onIdle?.();
    if (await wakeUp.wait(looks.untilNext())) looks.next();
  }
  const ended = Promise.all(inProgress);
  await Promise.race([ended, pause(grace, undefined, { ref: false })]);
  if (inProgress.size === 0) return;
  abandon();
  await Promise.race([ended, pause(grace, undefined, { ref: false })]);
};

/** Moments at which all messages are looked at, whatever the wake-up does in between. */
const randomLooks = (clock: Clock, interval: number) => {
  let [last, next] = [clock.now(), performance.now()];
  const untilNext = () => Math.max(0, next - performance.now());
  return {
    /** When the last one was. Epoch milliseconds. */
    last(): number {
      if (untilNext() > 0) return last;
      last = clock.now();
      next = performance.now() + interval * (0.2 + 0.8 * Math.random());
      return last;
    },
    /** Milliseconds until the next one. */
    untilNext,
    /** Lets the next one be now. */
    next(): void {
      next = performance.now();
    },
  };
};

const OUTBOX = { unavailable: 'the outbox could not be read', available: 'the outbox can be read again' };

/** Begins nothing while the outbox cannot be read. */
const unlessUnreadable = (begin: () => Promise<number>, logger: DeliverMailDeps['logger']) => {
  const outage = outageLog(logger, OUTBOX);
  return async (): Promise<number> => {
    try {
      const begun = await begin();
      outage.succeeded();
      return begun;
    } catch (error) {
      outage.failed(error);
      return 0;
    }
  };
};
