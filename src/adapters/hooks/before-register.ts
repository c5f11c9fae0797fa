import * as v from 'valibot';
import type { BeforeRegister, Hooks, ObserveHook, RegistrationAnswer } from '../../application/ports/hooks.ts';
import { assertFit, readAttributes } from '../../domain/attributes.ts';
import { LoggableError } from '../log/redact-error.ts';
import { bounded } from './bounded.ts';

/** Milliseconds. */
export const ANSWER_TIMEOUT = 2_000;

/** Strict, so that an attribute is not lost by a mistake in a name. */
const Answer = v.strictObject({
  decision: v.picklist(['allow', 'refuse']),
  attributes: v.optional(v.unknown(), {}),
  // Shown on pages and in logs of clients: no control characters, no ends of lines, and none that reorder the text.
  message: v.optional(
    v.pipe(v.string(), v.minLength(1), v.maxLength(200), v.regex(/^[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]*$/u)),
  ),
});

/** @throws Error when the answer is not valid. */
const read = (given: unknown, [, ofInvitation]: Parameters<BeforeRegister>): RegistrationAnswer => {
  const { success, output } = v.safeParse(Answer, given);
  if (!success) throw new LoggableError('the answer is not valid');
  const { decision, attributes, message } = output;
  if (decision === 'refuse') return { decision, message };
  const ofHook = readAttributes(JSON.stringify(attributes));
  return { decision, attributes: assertFit({ ...ofHook, ...ofInvitation }) };
};

/** The hook of a registration. */
export const boundedBeforeRegister = (
  hook: NonNullable<Hooks['beforeRegister']>,
  observe: ObserveHook,
): BeforeRegister => {
  const ask = ([registration]: Parameters<BeforeRegister>) => hook(registration);
  const isRefusal = ({ decision }: RegistrationAnswer) => decision === 'refuse';
  const asked = bounded({ name: 'before-register', timeout: ANSWER_TIMEOUT, hook: ask, read, isRefusal }, observe);
  return (...registration) => asked(registration);
};
