import { AppError } from '../../domain/errors/app-error.ts';
import type { ErrorCode } from '../../domain/errors/catalog.ts';
import { reasonOf } from '../redaction/redact-error.ts';
import { inPlaceOf } from '../redaction/stack-frames.ts';
import { EMAIL_KEY, USERNAME_KEY } from './entities.ts';

const UNIQUE_VIOLATION = '23505';

/** A field of any thrown value. */
const field = (error: unknown, name: string): unknown =>
  typeof error === 'object' && error !== null ? Reflect.get(error, name) : undefined;

const codeFor = (error: unknown): ErrorCode => {
  if (field(error, 'code') !== UNIQUE_VIOLATION) return 'DB_QUERY_FAILED';
  const constraint = field(error, 'constraint');
  return constraint === USERNAME_KEY || constraint === EMAIL_KEY ? 'AUTH_USER_DUPLICATE' : 'DB_UNIQUE_VIOLATION';
};

/** Maps a database error to an AppError without a `cause`, since driver errors contain emails and hashes. */
export const translateError = (error: unknown): AppError => {
  if (error instanceof AppError) return error;
  const translation = new AppError(codeFor(error), { reason: reasonOf(error) });
  return translation.status < 500 ? translation : inPlaceOf(error, translation);
};

/** Errors of the JavaScript engine. Drivers do not throw them synchronously, so they are bugs in the code that builds the query. */
const isBug = (error: unknown): error is Error =>
  error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError;

/** @throws AppError SYS_UNEXPECTED_ERROR */
const send = <Result>(query: () => Promise<Result>): Promise<Result> => {
  try {
    return query();
  } catch (error) {
    throw isBug(error) ? inPlaceOf(error, new AppError('SYS_UNEXPECTED_ERROR', { reason: error.name })) : error;
  }
};

/**
 * Runs a query and translates its errors.
 * @param query builds and sends the query only: process the result outside, so that a bug there is not reported as a database error.
 * @throws AppError AUTH_USER_DUPLICATE, DB_UNIQUE_VIOLATION, DB_QUERY_FAILED
 */
export const translated = async <Result>(query: () => Promise<Result>): Promise<Result> => {
  try {
    return await send(query);
  } catch (error) {
    throw translateError(error);
  }
};
