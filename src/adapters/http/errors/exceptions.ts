import type { Context } from 'koa';
import type { BaseIssue } from 'valibot';
import type { MissingStepUp } from '../../../domain/assurance.ts';
import { AppError, type AppErrorOptions, type FieldProblem } from '../../../domain/errors/app-error.ts';
import { CATALOG, type ErrorCode } from '../../../domain/errors/catalog.ts';
import { reasonOf } from '../../log/redact-error.ts';
import type { HttpDeps } from '../http-deps.ts';
import { STATUS_CODES } from '../node-http.ts';

type Headers = Readonly<Record<string, string>>;

/** An error of this adapter, with header fields of the response, such as `Allow`. */
export class HttpFailure extends AppError<ErrorCode> {
  readonly headers: Headers;

  constructor(code: ErrorCode, { headers, ...options }: AppErrorOptions & { readonly headers: Headers }) {
    super(code, options);
    this.headers = headers;
  }
}

type HttpFailureOptions = Omit<AppErrorOptions, 'status' | 'message'> & { readonly headers?: Headers };

/** An error of HTTP itself: the client only learns the status. */
export const httpFailure = (status: number, { headers = {}, ...options }: HttpFailureOptions = {}): HttpFailure =>
  new HttpFailure('SYS_HTTP_UNEXPECTED_ERROR', {
    status,
    message: `The request could not be served: ${STATUS_CODES[status]}.`,
    headers,
    ...options,
  });

/** RFC 6750 §3: for a token that the guard refuses, and for a token of an ended session. RFC 7617 §2: for a page server. */
const CHALLENGES: Partial<Record<ErrorCode, string>> = {
  AUTH_TOKEN_MISSING: 'Bearer',
  AUTH_TOKEN_INVALID: 'Bearer error="invalid_token"',
  AUTH_PAGE_SERVER_UNKNOWN: 'Basic realm="page server"',
};

/** RFC 9470 §3: what the user has to show. */
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

/** What stage 8 throws: the request does not match its schema. */
export const validationFailure = (details: readonly FieldProblem[]): AppError =>
  new AppError('CLIENT_PARAMS_VALIDATION_FAILED', { details });

/** Thrown by stage 11, and by stage 12 for a payload that has no JSON form. Its message has paths and expected types, never values. */
export class ResponseSerializationFailure extends Error {
  override readonly name = 'ResponseSerializationFailure';

  constructor(issues: readonly Pick<BaseIssue<unknown>, 'path' | 'expected'>[], options?: ErrorOptions) {
    const places = issues.map(
      ({ path, expected }) => `${path?.map(({ key }) => key).join('.') ?? 'data'}: ${expected}`,
    );
    super(`the payload does not match its schema (${places.join('; ')})`, options);
  }
}

/** Whether the request's route declares the code. True for an error before a route was reached. */
export const isDeclared = ({ state: { route } }: Context, { code }: AppError): boolean =>
  route === undefined || route.errors.has(code);

/**
 * An error whose code the route does not declare is a bug in the declaration. Outside production it becomes SYS_UNEXPECTED_ERROR. In
 * production the client gets the error as it is, and the log says that it is undeclared; but of a code that is not in the catalog, only
 * its route could say what the client gets.
 */
export const asDeclared = (ctx: Context, error: AppError, { environment }: Pick<HttpDeps, 'environment'>): AppError => {
  const own = ctx.state.route?.ownErrors[error.code];
  if (own !== undefined) return error.declaredAs(own);
  if (isDeclared(ctx, error) || (environment === 'production' && Object.hasOwn(CATALOG, error.code))) return error;
  return new AppError('SYS_UNEXPECTED_ERROR', { reason: `undeclared error code ${error.code}`, cause: error });
};

/** SPEC "Exception mapping": the first filter that matches handles the exception. */
export const toAppError = (exception: unknown): AppError =>
  rateLimitFilter(exception) ?? validationFilter(exception) ?? catchAllFilter(exception);

/** For what stage 6 throws. */
const rateLimitFilter = (exception: unknown): AppError | null =>
  isHttpError(exception) && exception.status === 429
    ? new AppError('CLIENT_REQUEST_RATE_LIMIT_EXCEEDED', {
        retryAfter: Math.max(1, Number(exception.headers?.['Retry-After'] ?? 1)),
      })
    : null;

const validationFilter = (exception: unknown): AppError | null =>
  exception instanceof ResponseSerializationFailure
    ? new AppError('SYS_SERIALIZATION_ERROR', { reason: exception.message, cause: exception })
    : null;

const catchAllFilter = (exception: unknown): AppError => {
  if (exception instanceof AppError) return exception;
  if (isHttpError(exception)) return wrapHttpError(exception);
  return new AppError('SYS_UNEXPECTED_ERROR', { cause: exception });
};

/** An HTTP exception of the framework or of a middleware. Not a class, since each may use its own copy of `http-errors`. */
export type HttpErrorLike = Error & {
  readonly status: number;
  readonly expose: boolean;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
};

export const isHttpError = (exception: unknown): exception is HttpErrorLike =>
  exception instanceof Error &&
  'expose' in exception &&
  typeof exception.expose === 'boolean' &&
  'status' in exception &&
  typeof exception.status === 'number' &&
  exception.status in STATUS_CODES &&
  exception.status >= 400;

const wrapHttpError = (error: HttpErrorLike): AppError =>
  httpFailure(error.status, {
    level: levelOf(error),
    // Without its message: the body parser puts parts of the body into some.
    reason: reasonOf(error),
    headers: error.headers ?? {},
    cause: error.status < 500 ? undefined : error,
  });

/** 503 means that the service is busy. A client that hung up is no error of the service. */
const levelOf = ({ status, type }: HttpErrorLike) => {
  if (type === 'request.aborted') return 'info';
  return status < 500 || status === 503 ? 'error' : 'fatal';
};
