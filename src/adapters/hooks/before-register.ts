import * as v from 'valibot';
import type { BeforeRegister, Hooks, ObserveHook, RegistrationAnswer } from '../../application/ports/hooks.ts';
import { readAttributes } from '../../domain/attributes.ts';
import { LoggableError } from '../log/redact-error.ts';
import { bounded } from './bounded.ts';

/** Milliseconds. */
const ANSWER_TIMEOUT = 2_000;

const Answer = v.variant('decision', [
  v.object({ decision: v.literal('allow'), attributes: v.optional(v.unknown()) }),
  v.object({
    decision: v.literal('refuse'),
    // Shown on pages and in logs of clients: no control characters, and none that reorder the text.
    message: v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(200), v.regex(/^[^\p{Cc}\p{Cf}\p{Cs}]*$/u))),
  }),
]);

/** @throws Error when the answer is not valid. */
const read = (given: unknown): RegistrationAnswer => {
  const { success, output } = v.safeParse(Answer, given);
  if (!success) throw new LoggableError('the answer is not valid');
  if (output.decision === 'refuse') return output;
  const { decision, attributes } = output;
  return attributes === undefined ? { decision } : { decision, attributes: readAttributes(JSON.stringify(attributes)) };
};

/** The hook of a registration. */
export const boundedBeforeRegister = (
  hook: NonNullable<Hooks['beforeRegister']>,
  observe: ObserveHook,
): BeforeRegister =>
  bounded(
    {
      name: 'before-register',
      timeout: ANSWER_TIMEOUT,
      hook,
      read,
      isRefusal: ({ decision }) => decision === 'refuse',
    },
    observe,
  );
