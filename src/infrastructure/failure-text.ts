import { reasonOf } from '../adapters/redaction/redact-error.ts';
import { systemReason } from '../adapters/redaction/system-reason.ts';

/** Why a command failed, for the operator. A message of PostgreSQL may quote stored values, and is left out. */
export const failureText = (error: unknown): string =>
  error instanceof Error && 'severity' in error ? `The database failed: ${reasonOf(error)}.` : systemReason(error);
