import { describe, expect, it } from 'vitest';
import { AppError } from '../../../src/domain/errors/app-error.ts';
import { CATALOG } from '../../../src/domain/errors/catalog.ts';

describe('AppError', () => {
  // Proves: exception-4
  it('is what its row of the catalog says', () => {
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

  // Proves: exception-4
  it('carries what the occurrence adds', () => {
    const cause = new Error('below');
    const details = [{ field: 'email', message: 'Not an email address.', code: 'email' }];
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

  it('takes a status of its own where the catalog leaves it to the run time', () => {
    expect(new AppError('SYS_HTTP_UNEXPECTED_ERROR', { status: 503 }).status).toBe(503);
  });

  it('takes a message of its own where it can say more than its row', () => {
    expect(new AppError('SYS_HTTP_UNEXPECTED_ERROR', { message: 'Try later.' }).message).toBe('Try later.');
  });

  it('keeps its reason from whoever reads the message', () => {
    expect(new AppError('AUTH_FAILED', { reason: 'the user does not exist' }).message).toBe(
      CATALOG.AUTH_FAILED.message,
    );
  });
});
