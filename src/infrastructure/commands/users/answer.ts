import { AppError } from '../../../domain/errors/app-error.ts';
import { CommandError, type ErrorStatus } from '../../command-error.ts';
import { ConfigError } from '../../config.ts';
import { printableJson } from '../../printable.ts';

/** The result of a command: `json` for programs, `text` for people. One of them is printed. */
export type Answer = { readonly json: string; readonly text: string };

export const answer = (report: object, text: string): Answer => ({ json: `${jsonOf(report)}\n`, text });

const TIME = /^(?:at|\w+At)$/;

/** One line, with times in ISO 8601; 0, for a password that was never changed, becomes `null`. */
export const jsonOf = (report: object): string => printableJson(JSON.stringify(withTimes('', report)));

/** The attributes of a user are the operator's: a number there is no time. */
const withTimes = (name: string, value: unknown): unknown => {
  if (TIME.test(name) && typeof value === 'number') return value === 0 ? null : new Date(value).toISOString();
  if (Array.isArray(value)) return value.map((each) => withTimes('', each));
  if (name === 'attributes' || typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([member, each]) => [member, withTimes(member, each)]));
};

/** 0 done, 1 refused or failed, 2 invalid arguments or configuration, 3 no such user. */
export type Status = 0 | ErrorStatus;

/** What databases say of a table or a column that does not exist: SQLSTATEs, the names of MariaDB and MySQL, and SQLite. */
const OTHER_TABLES = /\b42(?:P01|703)\b|ER_(?:NO_SUCH_TABLE|BAD_FIELD_ERROR)|no such (?:table|column)/;

/** What a command says of an error. */
export const failureOf = (error: unknown): Pick<CommandError, 'status' | 'code' | 'message'> => {
  if (error instanceof CommandError) return error;
  if (error instanceof ConfigError) return { status: 2, code: 'configuration', message: error.message };
  if (error instanceof AppError && OTHER_TABLES.test(error.reason ?? ''))
    return {
      status: 1,
      code: 'migrations-pending',
      message: 'The database has no tables of this version. Start the service once, or run `npx tandem migrate`.',
    };
  if (error instanceof AppError)
    return { status: 1, code: 'failed', message: [error.message, error.reason].filter(Boolean).join(' ') };
  return { status: 1, code: 'failed', message: error instanceof Error ? error.message : String(error) };
};
