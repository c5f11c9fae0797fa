import { reasonOf, systemReason } from '../adapters/log/redact-error.ts';

/** An exit status of a command: 1 failed, 2 invalid arguments or configuration; 3 as the help of the command says. */
export type ErrorStatus = 1 | 2 | 3;

/** The error of a command that has changed nothing. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  /** For programs: stays the same in later versions. */
  readonly code: string;
  readonly status: ErrorStatus;

  constructor(code: string, message: string, status: ErrorStatus = 3) {
    super(message);
    this.code = code;
    this.status = status;
  }
}

/** Why a command failed, for the operator. A message of PostgreSQL may quote stored values, and is left out. */
export const failureText = (error: unknown): string =>
  error instanceof Error && 'severity' in error ? `The database failed: ${reasonOf(error)}.` : systemReason(error);
