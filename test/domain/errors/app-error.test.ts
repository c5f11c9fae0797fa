// Proves SPEC 21.4
import { describe, expect, it } from 'vitest';
import { AppError } from '../../../src/domain/errors/app-error.ts';
import { CATALOG } from '../../../src/domain/errors/catalog.ts';

describe('AppError', () => {
  it('has the values of its catalog entry', () => {
    const error = new AppError('AUTH_USER_DUPLICATE');
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({
      name: 'AppError',
      code: 'AUTH_USER_DUPLICATE',
      message: CATALOG.AUTH_USER_DUPLICATE.message,
      status: 409,
      level: 'info',
      details: null,
    });
    expect(error.retryAfter).toBeUndefined();
    expect(error.reason).toBeUndefined();
    expect(error.cause).toBeUndefined();
  });

  it('contains cause, reason and details of the occurrence', () => {
    const cause = new Error('below');
    const details = [{ field: 'email', message: 'must be an email address', code: 'invalid_format' } as const];
    const error = new AppError('CLIENT_PARAMS_VALIDATION_FAILED', {
      cause,
      details,
      reason: 'why',
      level: 'warn',
      retryAfter: 1,
    });
    expect(error).toMatchObject({ details, reason: 'why', level: 'warn', retryAfter: 1 });
    expect(error.cause).toBe(cause);
  });

  it('can set the status where the catalog leaves it open', () => {
    expect(new AppError('SYS_HTTP_UNEXPECTED_ERROR', { status: 503 }).status).toBe(503);
  });

  it('can override the message of the catalog', () => {
    expect(new AppError('SYS_HTTP_UNEXPECTED_ERROR', { message: 'Try later.' }).message).toBe('Try later.');
  });

  it('has a message of a hook, which the log does not have', () => {
    const { message, logMessage } = new AppError('AUTH_REGISTRATION_REFUSED', { hookMessage: 'Not you, Ada.' });
    expect([message, logMessage]).toEqual(['Not you, Ada.', CATALOG.AUTH_REGISTRATION_REFUSED.message]);
    expect(new AppError('AUTH_REGISTRATION_REFUSED', { message: 'No.' }).logMessage).toBe('No.');
  });

  it('does not contain its reason in the message', () => {
    expect(new AppError('AUTH_FAILED', { reason: 'the user does not exist' }).message).toBe(
      CATALOG.AUTH_FAILED.message,
    );
  });
});
