import type { BaseIssue } from 'valibot';
import type { FieldProblem } from '../../../domain/errors/app-error.ts';

/** Thrown by stage 6. */
export class RateLimitExceeded extends Error {
  override readonly name = 'RateLimitExceeded';
  /** Whole seconds, at least 1. */
  readonly retryAfter: number;

  constructor(retryAfter: number) {
    super('rate limit exceeded');
    this.retryAfter = retryAfter;
  }
}

/** Thrown by stage 8. */
export class RequestValidationFailure extends Error {
  override readonly name = 'RequestValidationFailure';
  readonly details: readonly FieldProblem[];

  constructor(details: readonly FieldProblem[]) {
    super('the request does not match its schema');
    this.details = details;
  }
}

/** Thrown by stage 11, and by stage 12 for a payload that has no JSON. Names paths and what was expected there, never values. */
export class ResponseSerializationFailure extends Error {
  override readonly name = 'ResponseSerializationFailure';

  constructor(issues: readonly Pick<BaseIssue<unknown>, 'path' | 'expected'>[], options?: ErrorOptions) {
    const places = issues.map(
      ({ path, expected }) => `${path?.map(({ key }) => key).join('.') ?? 'data'}: ${expected}`,
    );
    super(`the payload does not match its schema (${places.join('; ')})`, options);
  }
}
