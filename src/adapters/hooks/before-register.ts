import * as v from 'valibot';
import type { BeforeRegister, Hooks, ObserveHook, RegistrationAnswer } from '../../application/ports/hooks.ts';
import { readAttributes } from '../../domain/attributes.ts';
import { AppError } from '../../domain/errors/app-error.ts';
import { withResponseTimeout } from '../limits/response-timeout.ts';
import { LoggableError } from '../log/redact-error.ts';

/** Milliseconds. */
const ANSWER_TIMEOUT = 2_000;
/** How many registrations may wait for the hook, so that a slow one does not fill the memory. */
const AT_ONCE = 50;
const RETRY_AFTER_SECONDS = 5;

const Answer = v.variant('decision', [
  v.object({ decision: v.literal('allow'), attributes: v.optional(v.unknown()) }),
  v.object({
    decision: v.literal('refuse'),
    // Shown on pages and in logs of clients: no control characters, and none that reorder the text.
    message: v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(200), v.regex(/^[^\p{Cc}\p{Cf}\p{Cs}]*$/u))),
  }),
]);

const unavailable = (reason: string, cause?: unknown): AppError =>
  new AppError('SYS_HOOK_UNAVAILABLE', { reason, cause, retryAfter: RETRY_AFTER_SECONDS });

/** @throws Error when the answer is not valid. */
const read = (given: unknown): RegistrationAnswer => {
  const { success, output } = v.safeParse(Answer, given);
  if (!success) throw new LoggableError('the answer is not valid');
  if (output.decision === 'refuse') return output;
  const { decision, attributes } = output;
  return attributes === undefined ? { decision } : { decision, attributes: readAttributes(JSON.stringify(attributes)) };
};

/** The hook of a registration, bounded in time and number. It closes the door when it fails. */
export const boundedBeforeRegister = (
  hook: NonNullable<Hooks['beforeRegister']>,
  observe: ObserveHook,
): BeforeRegister => {
  let running = 0;
  return async (registration) => {
    if (running >= AT_ONCE) {
      observe('before-register', 'dropped');
      throw unavailable('too many registrations wait for the hook');
    }
    running += 1;
    try {
      const asked = Promise.resolve(registration).then(hook);
      const late = () => new LoggableError('the hook has not answered in time');
      const answer = read(await withResponseTimeout(ANSWER_TIMEOUT, asked, late));
      observe('before-register', answer.decision === 'allow' ? 'done' : 'refused');
      return answer;
    } catch (error) {
      observe('before-register', 'failed');
      throw unavailable('the hook of registrations has failed', error);
    } finally {
      running -= 1;
    }
  };
};
