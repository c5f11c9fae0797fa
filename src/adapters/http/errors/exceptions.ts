import createHttpError from 'http-errors';
import type { Context } from 'koa';
import type { BaseIssue } from 'valibot';
import type { MissingStepUp } from '../../../domain/assurance.ts';
import { AppError, type AppErrorOptions, type FieldProblem } from '../../../domain/errors/app-error.ts';
import { CATALOG, type ErrorCode } from '../../../domain/errors/catalog.ts';
import { reasonOf } from '../../log/redact-error.ts';
import type { HttpDeps } from '../http-deps.ts';
import { STATUS_CODES } from '../node-http.ts';

type Headers = Readonly<Record<string, string>>;

/** An error with header fields of the response, such as `Allow`. */
export class HttpFailure extends AppError<ErrorCode> {
  readonly headers: Headers;

  constructor(code: ErrorCode, { headers, ...options }: AppErrorOptions & { readonly headers: Headers }) {
    super(code, options);
    this.headers = headers;
  }
}

type HttpFailureOptions = Omit<AppErrorOptions, 'status' | 'message'> & { readonly headers?: Headers };

/** An error of HTTP itself, such as 404: its message tells the client only the status. */
export const httpFailure = (status: number, { headers = {}, ...options }: HttpFailureOptions = {}): HttpFailure =>
  new HttpFailure('SYS_HTTP_UNEXPECTED_ERROR', {
    status,
    message: `The request could not be served: ${STATUS_CODES[status]}.`,
    headers,
    ...options,
  });

/** Values of `WWW-Authenticate`: RFC 6750 §3 for access tokens, RFC 7617 §2 for page servers. */
const CHALLENGES: Partial<Record<ErrorCode, string>> = {
  AUTH_TOKEN_MISSING: 'Bearer',
  AUTH_TOKEN_INVALID: 'Bearer error="invalid_token"',
  AUTH_PAGE_SERVER_UNKNOWN: 'Basic realm="page server"',
};

/** RFC 9470 §3. */
const stepUpChallenge = ({ acr, maxAge }: MissingStepUp): string =>
  [
    'Bearer error="insufficient_user_authentication"',
    ...(acr === undefined ? [] : [`acr_values="${acr}"`]),
    ...(maxAge === undefined ? [] : [`max_age=${maxAge / 1000}`]),
  ].join(', ');

/** The header fields of an error response. `Retry-After` (RFC 9110 §10.2.3) is part of every 503. */
export const errorHeaders = (error: AppError): Headers => {
  const challenge = error.stepUp === undefined ? CHALLENGES[error.code] : stepUpChallenge(error.stepUp);
  return {
    ...(challenge !== undefined && { 'WWW-Authenticate': challenge }),
    ...(error.status === 503 && { 'Retry-After': '1' }),
    ...(error instanceof HttpFailure && error.headers),
    ...(error.retryAfter !== undefined && { 'Retry-After': String(error.retryAfter) }),
  };
};

export const validationFailure = (details: readonly FieldProblem[]): AppError =>
  new AppError('CLIENT_PARAMS_VALIDATION_FAILED', { details });

/** A handler's payload does not match its schema, or has no JSON form. The message has paths and expected types, never values. */
export class ResponseSerializationFailure extends Error {
  override readonly name = 'ResponseSerializationFailure';

  constructor(issues: readonly Pick<BaseIssue<unknown>, 'path' | 'expected'>[], options?: ErrorOptions) {
    const problems = issues.map(
      ({ path, expected }) => `${path?.map(({ key }) => key).join('.') ?? 'data'}: ${expected}`,
    );
    super(`the payload does not match its schema (${problems.join('; ')})`, options);
  }
}

/** Whether the request's route declares the code of the error. Before the router has found a route, every code counts as declared. */
export const isDeclared = ({ state: { route } }: Context, { code }: AppError): boolean =>
  route === undefined || route.errors.has(code);

/**
 * A code that the route does not declare is a bug in the declaration. In production, the client gets the error nevertheless, and the log reports the
 * bug. Outside of production, and for a code that the catalog lacks, the error becomes SYS_UNEXPECTED_ERROR.
 */
export const declaredError = (ctx: Context, error: AppError, { nodeEnv }: Pick<HttpDeps, 'nodeEnv'>): AppError => {
  const ownEntry = ctx.state.route?.ownErrors[error.code];
  if (ownEntry !== undefined) return error.declaredAs(ownEntry);
  if (isDeclared(ctx, error) || (nodeEnv === 'production' && Object.hasOwn(CATALOG, error.code))) return error;
  return new AppError('SYS_UNEXPECTED_ERROR', { reason: `undeclared error code ${error.code}`, cause: error });
};

/** SPEC "Exception mapping": the first filter that matches handles the exception. */
export const toAppError = (exception: unknown): AppError => {
  if (isHttpError(exception) && exception.status === 429) {
    const retryAfter = Math.max(1, Number(exception.headers?.['Retry-After'] ?? 1));
    return new AppError('CLIENT_REQUEST_RATE_LIMIT_EXCEEDED', { retryAfter });
  }
  if (exception instanceof ResponseSerializationFailure)
    return new AppError('SYS_SERIALIZATION_ERROR', { reason: exception.message, cause: exception });
  if (exception instanceof AppError) return exception;
  if (isHttpError(exception)) return wrapHttpError(exception);
  return new AppError('SYS_UNEXPECTED_ERROR', { cause: exception });
};

/** Whether an exception is an error of `http-errors`, of any copy of the library, with a known status from 400 on. Some middlewares throw other statuses. */
export const isHttpError = (exception: unknown): exception is createHttpError.HttpError =>
  createHttpError.isHttpError(exception) && exception.status in STATUS_CODES && exception.status >= 400;

const wrapHttpError = (error: createHttpError.HttpError): AppError =>
  httpFailure(error.status, {
    level: levelOf(error),
    // Not the message, which may quote what the client has sent.
    reason: reasonOf(error),
    headers: error.headers ?? {},
    cause: error.status < 500 ? undefined : error,
  });

/** The level of the log line: 503 is no `fatal`, since the service is only busy; `info` if the client hung up. */
const levelOf = ({ status, type }: createHttpError.HttpError) => {
  if (type === 'request.aborted') return 'info';
  return status < 500 || status === 503 ? 'error' : 'fatal';
};
