import { STATUS_CODES } from 'node:http';
import { AppError } from '../../../domain/errors/app-error.ts';
import { reasonOf } from '../../redaction/redact-error.ts';
import {
  httpFailure,
  RateLimitExceeded,
  RequestValidationFailure,
  ResponseSerializationFailure,
} from './exceptions.ts';

type Filter = (exception: unknown) => AppError | null;

const rateLimitFilter: Filter = (exception) =>
  exception instanceof RateLimitExceeded
    ? new AppError('CLIENT_REQUEST_RATE_LIMIT_EXCEEDED', { retryAfter: exception.retryAfter })
    : null;

const validationFilter: Filter = (exception) => {
  if (exception instanceof RequestValidationFailure) {
    return new AppError('CLIENT_PARAMS_VALIDATION_FAILED', { details: exception.details });
  }
  if (exception instanceof ResponseSerializationFailure) {
    return new AppError('SYS_SERIALIZATION_ERROR', { reason: exception.message, cause: exception });
  }
  return null;
};

const catchAllFilter = (exception: unknown): AppError => {
  if (exception instanceof AppError) return exception;
  if (isHttpError(exception)) return wrapHttpError(exception);
  return new AppError('SYS_UNEXPECTED_ERROR', { cause: exception });
};

/** SPEC "Exception mapping": the first filter that matches handles the exception. */
export const toAppError = (exception: unknown): AppError => {
  try {
    return rateLimitFilter(exception) ?? validationFilter(exception) ?? catchAllFilter(exception);
  } catch {
    // Reading it failed: one of its getters throws, or it is a proxy that does.
    return new AppError('SYS_UNEXPECTED_ERROR', { cause: exception });
  }
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
