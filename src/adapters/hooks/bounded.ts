import * as v from 'valibot';
import type { Clock } from '../../application/ports/clock-and-ids.ts';
import type {
  AskClaims,
  BeforeRegister,
  ClaimsSession,
  ClaimsUser,
  Hooks,
  ObserveHook,
  RegistrationAnswer,
  VerifyFormerPassword,
} from '../../application/ports/hooks.ts';
import { assertFit, readAttributes } from '../../domain/attributes.ts';
import { AppError } from '../../domain/errors/app-error.ts';
import { withResponseTimeout } from '../limits/time-limits.ts';
import { LoggableError } from '../log/redact-error.ts';
import { span } from '../tracing/spans.ts';

/** How many requests may wait for one hook. Without a limit, they would fill the memory while the hook is slow. */
const MAX_RUNNING = 50;
const RETRY_AFTER_SECONDS = 5;

const hookUnavailable = (reason: string, cause?: unknown): AppError =>
  new AppError('SYS_HOOK_UNAVAILABLE', { reason, cause, retryAfter: RETRY_AFTER_SECONDS });

type LimitedHookOptions<Input, Answer> = {
  readonly name: Parameters<ObserveHook>[0];
  readonly timeout: number;
  readonly hook: (input: Input) => unknown;
  /** @throws Error when the answer is not valid. */
  readonly read: (given: unknown, input: Input) => Answer;
  readonly isRefusal?: (answer: Answer) => boolean;
};

/** Limits time and number of the calls of a hook. @throws AppError SYS_HOOK_UNAVAILABLE if no valid answer comes in time, or too many calls wait */
export const limitedHook = <Input, Answer>(
  { name, timeout, hook, read, isRefusal = () => false }: LimitedHookOptions<Input, Answer>,
  observe: ObserveHook,
): ((input: Input) => Promise<Answer>) => {
  const callHook = (input: Input) => span(`hook ${name}`, {}, () => Promise.resolve(input).then(hook), 'internal');
  let running = 0;
  return async (input) => {
    if (running >= MAX_RUNNING) {
      observe(name, 'dropped');
      throw hookUnavailable(`too many requests wait for the hook ${name}`);
    }
    running += 1;
    try {
      const lateError = () => new LoggableError('the hook has not answered in time');
      const answer = read(await withResponseTimeout(timeout, callHook(input), lateError), input);
      observe(name, isRefusal(answer) ? 'refused' : 'done');
      return answer;
    } catch (error) {
      observe(name, 'failed');
      throw hookUnavailable(`the hook ${name} has failed`, error);
    } finally {
      running -= 1;
    }
  };
};

const parseAnswer = <Answer>(schema: v.GenericSchema<unknown, Answer>, given: unknown): Answer => {
  const { success, output } = v.safeParse(schema, given);
  if (!success) throw new LoggableError('the answer is not valid');
  return output;
};

export const ANSWER_TIMEOUT = 2_000;

/** A strict object, so that a misspelled member, such as `attribute`, is an error. */
const RegistrationAnswerJson = v.strictObject({
  decision: v.picklist(['allow', 'refuse']),
  attributes: v.optional(v.unknown(), {}),
  // Pages show the message, so it has no control characters, line breaks, or characters that reorder the text.
  message: v.optional(
    v.pipe(v.string(), v.minLength(1), v.maxLength(200), v.regex(/^[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]*$/u)),
  ),
});

export const limitedBeforeRegister = (
  hook: NonNullable<Hooks['beforeRegister']>,
  observe: ObserveHook,
): BeforeRegister => {
  const ask = ([registration]: Parameters<BeforeRegister>) => hook(registration);
  const read = (given: unknown, [, invitationAttributes]: Parameters<BeforeRegister>): RegistrationAnswer => {
    const { decision, attributes, message } = parseAnswer(RegistrationAnswerJson, given);
    if (decision === 'refuse') return { decision, message };
    const hookAttributes = readAttributes(JSON.stringify(attributes));
    return { decision, attributes: assertFit({ ...hookAttributes, ...invitationAttributes }) };
  };
  const isRefusal = ({ decision }: RegistrationAnswer) => decision === 'refuse';
  const call = limitedHook({ name: 'before-register', timeout: ANSWER_TIMEOUT, hook: ask, read, isRefusal }, observe);
  return (...registration) => call(registration);
};

/** Milliseconds. Refreshes wait for this hook. */
const CLAIMS_TIMEOUT = 500;
/** For the claims and the attributes of the user together, as JSON. Some clients store the access token in a cookie, into which it has to fit. */
const CLAIMS_MAX_BYTES = 2_048;

type ClaimsInput = readonly [user: ClaimsUser, session: ClaimsSession];

/** The hook for the claims of access tokens. Members of its answer replace the attributes of the user that have the same name. */
export const limitedClaims = (hook: NonNullable<Hooks['claims']>, observe: ObserveHook): AskClaims => {
  const ask = ([user, session]: ClaimsInput) => hook(user, session);
  const read = (given: unknown, [user]: ClaimsInput) => {
    const answer = readAttributes(JSON.stringify(given), CLAIMS_MAX_BYTES);
    return assertFit({ ...user.attributes, ...answer }, CLAIMS_MAX_BYTES);
  };
  const call = limitedHook({ name: 'claims', timeout: CLAIMS_TIMEOUT, hook: ask, read }, observe);
  return (user, { id, amr, authenticatedAt, knownAt, heldAt }) => {
    const { username, email, locale, attributes } = user;
    return call([
      { id: user.id, username, email, emailVerified: user.emailVerifiedAt !== null, locale, attributes },
      { id, amr, authenticatedAt, knownAt, heldAt },
    ]);
  };
};

const VerificationAnswerJson = v.strictObject({ valid: v.boolean() });

type LoginInput = Pick<Parameters<VerifyFormerPassword>[0], 'id' | 'username' | 'email'> & {
  readonly password: string;
};

/** Asks the former system whether a password is right. @param until epoch milliseconds: from then on, the answer is `false`; `null`: no end */
export const limitedVerifyPassword = (
  ask: (presented: LoginInput) => unknown,
  until: number | null,
  observe: ObserveHook,
  clock: Clock,
): VerifyFormerPassword => {
  const read = (given: unknown) => parseAnswer(VerificationAnswerJson, given).valid;
  const isRefusal = (isValid: boolean) => !isValid;
  const call = limitedHook({ name: 'verify-password', timeout: ANSWER_TIMEOUT, hook: ask, read, isRefusal }, observe);
  return async ({ id, username, email }, password) =>
    (until === null || clock.now() < until) && call({ id, username, email, password });
};
