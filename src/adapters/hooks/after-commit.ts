import pLimit from 'p-limit';
import type { Logger } from 'pino';
import type { Hooks, ObserveHook } from '../../application/ports/hooks.ts';
import type { AccountEvent } from '../../domain/event.ts';
import { withTimeout } from '../limits/time-limits.ts';
import { LoggableError } from '../log/redact-error.ts';

const MAX_WAITING = 1_000;
/** Milliseconds for one call of the hook. Then the hook is called for the next event. */
const CALL_TIMEOUT = 10_000;
const CLOSE_TIMEOUT = 5_000;

/** Calls a hook for events, in their order. */
export const afterCommitQueue = (hook: NonNullable<Hooks['afterCommit']>, logger: Logger, observe: ObserveHook) => {
  const oneAtATime = pLimit(1);
  const lateError = () => new LoggableError('the hook has not ended in time');
  const call = async (event: AccountEvent): Promise<void> => {
    try {
      await withTimeout(CALL_TIMEOUT, Promise.resolve(event).then(hook), lateError);
      observe('after-commit', 'done');
    } catch (error) {
      observe('after-commit', 'failed');
      logger.error({ err: error, kind: event.kind, userId: event.userId }, 'the hook afterCommit has failed');
    }
  };
  let lastCall: Promise<void> = Promise.resolve();
  let droppedCount = 0;
  const logDropped = (): void => {
    if (droppedCount > 0)
      logger.error({ count: droppedCount }, 'events were not passed to the hook afterCommit: too many waited');
    droppedCount = 0;
  };
  return {
    add(this: void, event: AccountEvent): void {
      if (oneAtATime.pendingCount >= MAX_WAITING) {
        observe('after-commit', 'dropped');
        droppedCount += 1;
        return;
      }
      logDropped();
      lastCall = oneAtATime(() => call(event));
    },
    /** Waits until the hook was called for all waiting events. @throws Error after `CLOSE_TIMEOUT` */
    close(): Promise<void> {
      logDropped();
      return withTimeout(CLOSE_TIMEOUT, lastCall, () => new Error('The hook afterCommit has not ended in time.'));
    },
  };
};
