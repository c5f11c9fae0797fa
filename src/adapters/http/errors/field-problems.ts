import type { BaseIssue } from 'valibot';
import { getDotPath } from 'valibot';
import type { FieldProblem } from '../../../domain/errors/app-error.ts';

/** The stable words of `details[].code`, by the kind of valibot's issue. */
const WORDS: Readonly<Record<string, string>> = {
  min_length: 'too_short',
  max_length: 'too_long',
  regex: 'invalid_format',
};

/** Names of parameters are the client's own and may be as long as a header. */
const MAX_FIELD_LENGTH = 64;

/** @param place where a problem lies that has no path: `body`, `query` or `params`. */
export const fieldProblems = (
  issues: readonly [BaseIssue<unknown>, ...BaseIssue<unknown>[]],
  place: string,
): FieldProblem[] =>
  issues.map((issue) => ({
    field: (getDotPath(issue) || place).slice(0, MAX_FIELD_LENGTH).toWellFormed(),
    ...problemOf(issue),
  }));

/** Messages of schemas that name a type hold the value that came instead: they are not for the answer. */
const problemOf = (issue: BaseIssue<unknown>): Omit<FieldProblem, 'field'> => {
  if (issue.kind === 'schema') {
    if (issue.expected === 'never') return { message: 'is unknown', code: 'unknown' };
    if (issue.received === 'undefined') return { message: 'is required', code: 'required' };
    if (issue.type === 'picklist') return { message: `must be one of ${issue.expected}`, code: 'invalid_value' };
    return { message: 'has the wrong type', code: 'invalid_type' };
  }
  // A rule of the domain says its own word where valibot says what it received.
  const code = issue.type === 'raw_check' ? issue.received : (WORDS[issue.type] ?? 'invalid');
  return { message: issue.message, code };
};
