import type { ObserveHook } from '../../application/ports/hooks.ts';
import { AppError } from '../../domain/errors/app-error.ts';
import { withResponseTimeout } from '../limits/response-timeout.ts';
import { LoggableError } from '../log/redact-error.ts';
import { span } from '../tracing/spans.ts';

/** How many requests may wait for a hook, so that a slow one does not fill the memory. */
const AT_ONCE = 50;
const RETRY_AFTER_SECONDS = 5;

const unavailable = (reason: string, cause?: unknown): AppError =>
  new AppError('SYS_HOOK_UNAVAILABLE', { reason, cause, retryAfter: RETRY_AFTER_SECONDS });

type Bounded<Asked, Answer> = {
  readonly name: Parameters<ObserveHook>[0];
  /** Milliseconds. */
  readonly timeout: number;
  readonly hook: (asked: Asked) => unknown;
  /** @throws Error when the answer is not valid. */
  readonly read: (given: unknown, asked: Asked) => Answer;
  readonly isRefusal?: (answer: Answer) => boolean;
};

/** A hook that a request waits for, bounded in time and number. Without a valid answer, the request fails: what the hook decides is never skipped. */
export const bounded = <Asked, Answer>(
  { name, timeout, hook, read, isRefusal = () => false }: Bounded<Asked, Answer>,
  observe: ObserveHook,
): ((asked: Asked) => Promise<Answer>) => {
  const traced = (asked: Asked) => span(`hook ${name}`, {}, () => Promise.resolve(asked).then(hook), 'internal');
  let running = 0;
  return async (asked) => {
    if (running >= AT_ONCE) {
      observe(name, 'dropped');
      throw unavailable(`too many requests wait for the hook ${name}`);
    }
    running += 1;
    try {
      const late = () => new LoggableError('the hook has not answered in time');
      const answer = read(await withResponseTimeout(timeout, traced(asked), late), asked);
      observe(name, isRefusal(answer) ? 'refused' : 'done');
      return answer;
    } catch (error) {
      observe(name, 'failed');
      throw unavailable(`the hook ${name} has failed`, error);
    } finally {
      running -= 1;
    }
  };
};
