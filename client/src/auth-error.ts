import type { AuthErrorCode, FieldProblem } from './types.ts';

export class AuthError extends Error {
  declare readonly code: AuthErrorCode;
  /** Whether the cause is temporary. */
  declare readonly retryable: boolean;
  /** Seconds to wait before trying again, if the service has said so. */
  declare readonly retryAfter: number | null;
  declare readonly fields: readonly FieldProblem[];
  /** The id of the request in the log of the service. */
  declare readonly requestId: string | null;

  constructor(code: AuthErrorCode, message: string, more?: Partial<Omit<AuthError, 'code' | 'message'>>) {
    super(message, more);
    const unknown = { retryable: false, retryAfter: null, fields: [], requestId: null };
    Object.assign(this, { name: 'AuthError', code, ...unknown, ...more });
  }
}
