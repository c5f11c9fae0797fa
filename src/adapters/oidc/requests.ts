import { type ClientMetadata, type CustomFetchOptions, clockTolerance, customFetch } from 'openid-client';
import type { ProviderAnswer } from '../../application/ports/identity-providers.ts';
import { AppError } from '../../domain/errors/app-error.ts';
import { typedAccount } from '../json/fields.ts';
import { LoggableError } from '../log/redact-error.ts';
import { boundedText, tracedFetch } from '../tracing/traced-fetch.ts';

/** Seconds for each request to a provider. A sign-in makes up to four, within the time of a request to the service. */
const TIMEOUT = 5;
/** Ten times the key set of a large provider. */
const MAX_ANSWER_BYTES = 262_144;
/** How many sign-ins may wait for one provider, so that a slow one does not fill the memory. */
const AT_ONCE = 50;
const RETRY_AFTER_SECONDS = 5;
/** Seconds by which the clock of the provider may differ. */
const CLOCK_TOLERANCE = 30;

/** The provider does not answer, answers with too much, or reports a failure or a limit. The user has not caused it. */
export class Unreachable extends LoggableError {}

const boundedFetch = async (url: string, options: CustomFetchOptions): Promise<Response> => {
  const unreachable = (cause: unknown) => new Unreachable('the provider has not answered', { cause });
  const { body, ...rest } = options;
  // openid-client sends only forms, and sets their type.
  const form = body == null ? null : `${body}`;
  const response = await tracedFetch(url, { ...rest, body: form }).catch((cause: unknown) => {
    throw unreachable(cause);
  });
  const text = await boundedText(response, MAX_ANSWER_BYTES).catch((cause: unknown) => {
    throw unreachable(cause);
  });
  const { status, headers } = response;
  if (status >= 500 || status === 429) throw new Unreachable(`the provider has answered with the status ${status}`);
  // With this header, openid-client would not read the body, which has the error code of OAuth.
  const readable = new Headers(headers);
  readable.delete('www-authenticate');
  return new Response(text === '' ? null : text, { status, headers: readable });
};

export const CLIENT_OPTIONS = { timeout: TIMEOUT, [customFetch]: boundedFetch };
/** The tolerance belongs here: openid-client ignores one in a `Configuration`. */
export const CLIENT_METADATA: Partial<ClientMetadata> = { [clockTolerance]: CLOCK_TOLERANCE };

export const unavailable = (reason: string, cause?: unknown): AppError =>
  new AppError('SYS_PROVIDER_UNAVAILABLE', { reason, cause, retryAfter: RETRY_AFTER_SECONDS });

const causesOf = (error: unknown): Error[] => (error instanceof Error ? [error, ...causesOf(error.cause)] : []);

/** Error codes of OAuth: `access_denied`, `invalid_client`. In the query of a callback, anybody can choose the text. */
const CODE = /^[a-z_]{1,40}$/;

/** The error of a failed request to a provider, without texts of the provider. */
const asAppError = (error: unknown): AppError => {
  if (error instanceof AppError) return error;
  const causes = causesOf(error);
  const told = causes.flatMap((each) => (each instanceof LoggableError ? [` (${each.message})`] : [])).join('');
  if (causes.some((each) => each instanceof Unreachable))
    return unavailable(`the provider cannot be asked${told}`, error);
  const code = causes.map((each) => `${Reflect.get(each, 'error') ?? ''}`).find((text) => CODE.test(text));
  const reason = `the provider has not said who the user is: ${code ?? 'its answer is not valid'}${told}`;
  const level = code === 'access_denied' ? 'info' : 'warn';
  return new AppError('AUTH_IDENTITY_UNPROVEN', { reason, cause: error, level });
};

/** The address of a user, or why the provider does not tell it. An identity that is linked to an account needs none. */
export const addressFrom = (ask: () => Promise<Pick<ProviderAnswer, 'email' | 'isEmailVerified'>>) =>
  ask()
    .then(({ email, isEmailVerified }) => ({ email: email && typedAccount(email), isEmailVerified }))
    .catch((error: unknown) => ({ email: null, isEmailVerified: false, addressError: asAppError(error) }));

/** Bounds how many sign-ins wait for a provider, and translates errors. */
export const limitedRequests = (): (<Answer>(ask: () => Promise<Answer>) => Promise<Answer>) => {
  let running = 0;
  return async (ask) => {
    if (running >= AT_ONCE) throw unavailable('too many sign-ins wait for the provider');
    running += 1;
    try {
      return await ask();
    } catch (error) {
      throw asAppError(error);
    } finally {
      running -= 1;
    }
  };
};
