import type { BaseIssue } from 'valibot';
import type { FieldProblem } from '../../../domain/errors/app-error.ts';

/** Stage 6 refused. */
export class RateLimitExceeded extends Error {
  override readonly name = 'RateLimitExceeded';
  /** Whole seconds, at least 1. */
  readonly retryAfter: number;

  constructor(retryAfter: number) {
    super('rate limit exceeded');
    this.retryAfter = retryAfter;
  }
}

/** Stage 8 refused. */
export class RequestValidationFailure extends Error {
  override readonly name = 'RequestValidationFailure';
  readonly details: readonly FieldProblem[];

  constructor(details: readonly FieldProblem[]) {
    super('the request does not meet its schema');
    this.details = details;
  }
}

/** Stage 11 refused, or stage 12 found no JSON for what it let through. Names the places and what was expected there, never the values. */
export class ResponseSerializationFailure extends Error {
  override readonly name = 'ResponseSerializationFailure';

  constructor(issues: readonly Pick<BaseIssue<unknown>, 'path' | 'expected'>[], options?: ErrorOptions) {
    const places = issues.map(
      ({ path, expected }) => `${path?.map(({ key }) => key).join('.') ?? 'data'}: ${expected}`,
    );
    super(`the payload does not meet its schema (${places.join('; ')})`, options);
  }
}
