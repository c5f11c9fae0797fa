import { AppError, type AppErrorOptions } from '../../domain/errors/app-error.ts';
import { withFramesOf } from '../log/redact-error.ts';

/** DB_QUERY_FAILED of a statement that was certainly not executed: there is no rotation to revert. */
export class NotExecutedError extends AppError {
  constructor(options: AppErrorOptions) {
    super('DB_QUERY_FAILED', options);
  }
}

/** Translates the failure of a step before the rotation is sent, or after it changed nothing. */
export const notExecuted = (error: unknown): never => {
  const reason = error instanceof AppError ? error.reason : undefined;
  throw withFramesOf(error, new NotExecutedError(reason === undefined ? {} : { reason }));
};
