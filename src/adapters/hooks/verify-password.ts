import * as v from 'valibot';
import type { Clock } from '../../application/ports/clock-and-ids.ts';
import type { ObserveHook, VerifyElsewhere } from '../../application/ports/hooks.ts';
import { LoggableError } from '../log/redact-error.ts';
import { ANSWER_TIMEOUT } from './before-register.ts';
import { bounded } from './bounded.ts';

const Answer = v.strictObject({ valid: v.boolean() });

/** @throws Error when the answer is not valid. */
const read = (given: unknown): boolean => {
  const { success, output } = v.safeParse(Answer, given);
  if (!success) throw new LoggableError('the answer is not valid');
  return output.valid;
};

type Presented = Pick<Parameters<VerifyElsewhere>[0], 'id' | 'username' | 'email'> & { readonly password: string };

/** Asks the former system about a password. @param until epoch milliseconds, from when on no password is right; `null`: never. */
export const boundedVerifyPassword = (
  ask: (presented: Presented) => unknown,
  until: number | null,
  observe: ObserveHook,
  clock: Clock,
): VerifyElsewhere => {
  const isRefusal = (isValid: boolean) => !isValid;
  const asked = bounded({ name: 'verify-password', timeout: ANSWER_TIMEOUT, hook: ask, read, isRefusal }, observe);
  return async ({ id, username, email }, password) =>
    (until === null || clock.now() < until) && asked({ id, username, email, password });
};
