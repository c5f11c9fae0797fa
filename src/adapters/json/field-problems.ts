import { type BaseIssue, getDotPath } from 'valibot';
import type { FieldCode, FieldProblem } from '../../domain/errors/app-error.ts';

/** Characters of a field's name in an answer. Clients choose the names of parameters, which may be as long as the request target. */
const MAX_FIELD_LENGTH = 64;
/** More than the fields of any route. Clients choose the number of members of objects such as `extra`. */
const MAX_PROBLEMS = 50;

/**
 * The problems that valibot has found, as the details of CLIENT_PARAMS_VALIDATION_FAILED. Forms send an empty text for an empty field, so an
 * empty text in a body has only the problem `required`.
 * @param place `body`, `query` or `params`: the field of a problem that has no path
 */
export const fieldProblems = (issues: readonly [BaseIssue<unknown>, ...BaseIssue<unknown>[]], place: string) => {
  const missingFields = new Set<string>();
  return issues.slice(0, MAX_PROBLEMS).flatMap((issue) => {
    const field = (getDotPath(issue) || place).slice(0, MAX_FIELD_LENGTH).toWellFormed();
    if (missingFields.has(field)) return [];
    if (place !== 'body' || issue.input !== '') return [{ field, ...problemOf(issue) }];
    missingFields.add(field);
    return [{ field, ...REQUIRED }];
  });
};

type Problem = Omit<FieldProblem, 'field'>;

const REQUIRED: Problem = { message: 'is required', code: 'required' };

/** The problem of a value that is missing or unknown, or does not have the type. Its message replaces that of valibot, which quotes the value. */
const problemOfType = ({ type, expected, received }: BaseIssue<unknown>): Problem => {
  if (expected === 'never') return { message: 'is unknown', code: 'unknown' };
  if (received === 'undefined') return REQUIRED;
  if (type === 'picklist' || type === 'literal')
    return { message: `must be one of ${expected}`, code: 'invalid_value' };
  return { message: 'has the wrong type', code: 'invalid_type' };
};

/** The problems by the checks of valibot. `test/http/field-codes.test.ts` fails if the schema of a request uses another check. */
export const CHECKS: Readonly<Record<string, (issue: BaseIssue<unknown>) => Problem>> = {
  min_length: (issue) => ({ message: `must have at least ${lengthOf(issue)}`, code: 'too_short' }),
  max_length: (issue) => ({ message: `must have at most ${lengthOf(issue)}`, code: 'too_long' }),
  max_entries: (issue) => ({ message: `must have at most ${lengthOf(issue)}`, code: 'too_long' }),
  min_value: ({ requirement }) => ({ message: `must be at least ${requirement}`, code: 'too_small' }),
  max_value: ({ requirement }) => ({ message: `must be at most ${requirement}`, code: 'too_large' }),
  regex: ({ message }) => ({ message, code: 'invalid_format' }),
  // `fieldRule` passes its code in `received`.
  raw_check: ({ message, received }) => ({ message, code: received as FieldCode }),
};

const problemOf = (issue: BaseIssue<unknown>): Problem =>
  issue.kind === 'schema'
    ? problemOfType(issue)
    : (CHECKS[issue.type]?.(issue) ?? { message: issue.message, code: 'invalid_format' });

const lengthOf = ({ requirement, input }: BaseIssue<unknown>): string => {
  const [one, many] = typeof input === 'string' ? ['character', 'characters'] : ['entry', 'entries'];
  return `${requirement} ${requirement === 1 ? one : many}`;
};
