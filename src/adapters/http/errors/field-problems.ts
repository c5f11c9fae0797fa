import type { BaseIssue } from 'valibot';
import { getDotPath } from 'valibot';
import type { FieldCode, FieldProblem } from '../../../domain/errors/app-error.ts';

/** The client chooses the names of parameters; they may be as long as the request target. */
const MAX_FIELD_LENGTH = 64;

/** @param place the field of a problem that has no path: `body`, `query` or `params`. */
export const fieldProblems = (
  issues: readonly [BaseIssue<unknown>, ...BaseIssue<unknown>[]],
  place: string,
): FieldProblem[] =>
  issues.map((issue) => ({
    field: (getDotPath(issue) || place).slice(0, MAX_FIELD_LENGTH).toWellFormed(),
    ...problemOf(issue),
  }));

/** valibot's own messages of a wrong type quote the value, so they are replaced. */
const problemOf = (issue: BaseIssue<unknown>): Omit<FieldProblem, 'field'> => {
  if (issue.kind === 'schema') {
    if (issue.expected === 'never') return { message: 'is unknown', code: 'unknown' };
    if (issue.received === 'undefined') return { message: 'is required', code: 'required' };
    if (issue.type === 'picklist') return { message: `must be one of ${issue.expected}`, code: 'invalid_value' };
    return { message: 'has the wrong type', code: 'invalid_type' };
  }
  if (issue.type === 'min_length') return { message: atLeast(Number(issue.requirement)), code: 'too_short' };
  if (issue.type === 'max_length') return { message: atMost(Number(issue.requirement)), code: 'too_long' };
  if (issue.type === 'regex') return { message: issue.message, code: 'invalid_format' };
  // A rule of the domain passes its code in `received`.
  return { message: issue.message, code: issue.type === 'raw_check' ? (issue.received as FieldCode) : 'invalid' };
};

const characters = (count: number): string => `${count} character${count === 1 ? '' : 's'}`;
const atLeast = (count: number): string => `must have at least ${characters(count)}`;
const atMost = (count: number): string => `must have at most ${characters(count)}`;
