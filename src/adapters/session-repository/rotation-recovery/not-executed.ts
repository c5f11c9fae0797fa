import { AppError, type AppErrorOptions } from '../../../domain/errors/app-error.ts';
import { inPlaceOf } from '../../redaction/stack-frames.ts';

/** DB_QUERY_FAILED of a command that the store has certainly not executed: of a rotation there is nothing to revert. */
export class NotExecutedError extends AppError {
  constructor(options: AppErrorOptions) {
    super('DB_QUERY_FAILED', options);
  }
}

/** For a step before or after the command of a rotation: when it fails, the rotation was not sent, or has changed nothing. */
export const notExecuted = (error: unknown): never => {
  const reason = error instanceof AppError ? error.reason : undefined;
  throw inPlaceOf(error, new NotExecutedError(reason === undefined ? {} : { reason }));
};
