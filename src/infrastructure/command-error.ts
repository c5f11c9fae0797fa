import { reasonOf, systemReason } from '../adapters/redaction/redact-error.ts';

/** The error of a command that has changed nothing. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  /** For programs: stays the same in later versions. */
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** Why a command failed, for the operator. A message of PostgreSQL may quote stored values, and is left out. */
export const failureText = (error: unknown): string =>
  error instanceof Error && 'severity' in error ? `The database failed: ${reasonOf(error)}.` : systemReason(error);
