import { type ClientMetadata, type CustomFetchOptions, clockTolerance, customFetch } from 'openid-client';
import type { ProviderAnswer } from '../../application/ports/identity-providers.ts';
import { AppError } from '../../domain/errors/app-error.ts';
import { typedAccount } from '../json/fields.ts';
import { LoggableError } from '../log/redact-error.ts';
import { boundedText, tracedFetch } from '../tracing/traced-fetch.ts';

/** The callback of a sign-in makes up to four requests to the provider, so it waits for up to 20 seconds. */
const REQUEST_TIMEOUT_SECONDS = 5;
const MAX_ANSWER_BYTES = 262_144;
/** How many sign-ins may wait for one provider. Without a limit, they would fill the memory while the provider is slow. */
const MAX_RUNNING = 50;
const RETRY_AFTER_SECONDS = 5;
const CLOCK_TOLERANCE_SECONDS = 30;

/** The provider does not answer, its answer is too long, or it reports a failure or a limit: the user has not caused the error. */
export class ProviderUnreachable extends LoggableError {}

const boundedFetch = async (url: string, options: CustomFetchOptions): Promise<Response> => {
  const throwUnreachable = (cause: unknown): never => {
    throw new ProviderUnreachable('the provider has not answered', { cause });
  };
  const { body, ...rest } = options;
  // openid-client sends only forms, and sets their Content-Type.
  const form = body == null ? null : `${body}`;
  const response = await tracedFetch(url, { ...rest, body: form }).catch(throwUnreachable);
  const text = await boundedText(response, MAX_ANSWER_BYTES).catch(throwUnreachable);
  const { status, headers } = response;
  if (status >= 500 || status === 429)
    throw new ProviderUnreachable(`the provider has answered with the status ${status}`);
  // With the header `WWW-Authenticate`, openid-client would not read the body, which has the error code of OAuth.
  const readable = new Headers(headers);
  readable.delete('www-authenticate');
  return new Response(text === '' ? null : text, { status, headers: readable });
};

export const CLIENT_OPTIONS = { timeout: REQUEST_TIMEOUT_SECONDS, [customFetch]: boundedFetch };
/** openid-client reads the tolerance from the metadata of the client, and ignores it in a `Configuration`. */
export const CLIENT_METADATA: Partial<ClientMetadata> = { [clockTolerance]: CLOCK_TOLERANCE_SECONDS };

export const providerUnavailable = (reason: string, cause?: unknown): AppError =>
  new AppError('SYS_PROVIDER_UNAVAILABLE', { reason, cause, retryAfter: RETRY_AFTER_SECONDS });

const causesOf = (error: unknown): Error[] => (error instanceof Error ? [error, ...causesOf(error.cause)] : []);

/** The form of OAuth's error codes, such as `access_denied`. Texts of another form are not logged, since attackers can write the query of a callback. */
const OAUTH_ERROR_CODE = /^[a-z_]{1,40}$/;

/** The error for a failed request to a provider. Of what the provider has sent, it quotes only the status, and OAuth's error code. */
const asAppError = (error: unknown): AppError => {
  if (error instanceof AppError) return error;
  const causes = causesOf(error);
  const messages = causes.flatMap((each) => (each instanceof LoggableError ? [` (${each.message})`] : [])).join('');
  if (causes.some((each) => each instanceof ProviderUnreachable))
    return providerUnavailable(`the provider cannot be asked${messages}`, error);
  const code = causes.map((each) => `${Reflect.get(each, 'error') ?? ''}`).find((text) => OAUTH_ERROR_CODE.test(text));
  const reason = `the provider has not said who the user is: ${code ?? 'its answer is not valid'}${messages}`;
  const level = code === 'access_denied' ? 'info' : 'warn';
  return new AppError('AUTH_IDENTITY_UNPROVEN', { reason, cause: error, level });
};

/** The address of a user, or in `addressError` why the provider has not said it. Never rejects, since a linked identity needs no address. */
export const addressFrom = (ask: () => Promise<Pick<ProviderAnswer, 'email' | 'isEmailVerified'>>) =>
  ask()
    .then(({ email, isEmailVerified }) => ({ email: email && typedAccount(email), isEmailVerified }))
    .catch((error: unknown) => ({ email: null, isEmailVerified: false, addressError: asAppError(error) }));

/** Limits how many sign-ins wait for a provider, and turns errors into AppErrors. */
export const limitedSignIns = (): (<Answer>(ask: () => Promise<Answer>) => Promise<Answer>) => {
  let running = 0;
  return async (ask) => {
    if (running >= MAX_RUNNING) throw providerUnavailable('too many sign-ins wait for the provider');
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
