import { STATUS_CODES } from 'node:http';
import { AppError, type AppErrorOptions } from '../../../domain/errors/app-error.ts';
import type { ErrorCode } from '../../../domain/errors/catalog.ts';

type Headers = Readonly<Record<string, string>>;

/** An error of this adapter, with header fields of the response, such as `Allow`. */
export class HttpFailure extends AppError {
  readonly headers: Headers;

  constructor(code: ErrorCode, { headers, ...options }: AppErrorOptions & { readonly headers: Headers }) {
    super(code, options);
    this.headers = headers;
  }
}

type HttpFailureOptions = Omit<AppErrorOptions, 'status' | 'message'> & { readonly headers?: Headers };

/** An error of HTTP itself, of which the client reads no more than the status. */
export const httpFailure = (status: number, { headers = {}, ...options }: HttpFailureOptions = {}): HttpFailure =>
  new HttpFailure('SYS_HTTP_UNEXPECTED_ERROR', {
    status,
    message: `The request could not be served: ${STATUS_CODES[status]}.`,
    headers,
    ...options,
  });

/** RFC 6750 §3, for a token that the guard refuses and for one whose session has ended. */
const CHALLENGES: Partial<Record<ErrorCode, string>> = {
  AUTH_TOKEN_MISSING: 'Bearer',
  AUTH_TOKEN_INVALID: 'Bearer error="invalid_token"',
};

/** The header fields of an error response. `Retry-After` (RFC 9110 §10.2.3) is part of every 503. */
export const errorHeaders = (error: AppError): Headers => {
  const challenge = CHALLENGES[error.code];
  return {
    ...(challenge !== undefined && { 'WWW-Authenticate': challenge }),
    ...(error.status === 503 && { 'Retry-After': '1' }),
    ...(error instanceof HttpFailure && error.headers),
    ...(error.retryAfter !== undefined && { 'Retry-After': String(error.retryAfter) }),
  };
};
