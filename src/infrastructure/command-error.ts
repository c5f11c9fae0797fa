import { reasonOf, systemReason } from '../adapters/log/redact-error.ts';
import { AppError } from '../domain/errors/app-error.ts';
import { ConfigError } from './config.ts';

/** The exit status of a command. Unless its help says otherwise: 0 done, 1 failed, 2 invalid arguments or configuration. 3 is as its help says. */
export type Status = 0 | 1 | 2 | 3;

export class CommandError extends Error {
  override readonly name = 'CommandError';
  /** A code for programs, which stays the same in later versions. */
  readonly code: string;
  readonly status: Status;

  constructor(code: string, message: string, status: Status = 3) {
    super(message);
    this.code = code;
    this.status = status;
  }
}

export const fileExistsError = (path: string): CommandError =>
  new CommandError('file-exists', `${path} exists, and is not replaced.`);

export const invalidArguments = (message: string): CommandError => new CommandError('arguments', message, 2);

/** Matches the reports of a missing table or column: SQLSTATEs of PostgreSQL, names of MariaDB and MySQL, and texts of SQLite. */
const MISSING_TABLE = /\b42(?:P01|703)\b|ER_(?:NO_SUCH_TABLE|BAD_FIELD_ERROR)|no such (?:table|column)/;
const NO_TABLES = 'The database has no tables of this version. Start the service once, or run `npx tandem migrate`.';

export const failureOf = (error: unknown, failed: Status = 1): Pick<CommandError, 'status' | 'code' | 'message'> => {
  if (error instanceof CommandError) return error;
  if (error instanceof ConfigError) return { status: 2, code: 'configuration', message: error.message };
  if (error instanceof AppError && MISSING_TABLE.test(error.reason ?? ''))
    return { status: failed, code: 'migrations-pending', message: NO_TABLES };
  return { status: failed, code: 'failed', message: messageOf(error) };
};

const messageOf = (error: unknown): string => {
  if (error instanceof AppError) return [error.message, error.reason].filter(Boolean).join(' ');
  // The message of PostgreSQL, whose errors have a `severity`, is left out: it may quote stored values.
  return error instanceof Error && 'severity' in error
    ? `The database failed: ${reasonOf(error)}.`
    : systemReason(error);
};
