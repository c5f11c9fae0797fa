import { AppError, type AppErrorOptions } from '../../../domain/errors/app-error.ts';

/** DB_QUERY_FAILED of a command that the store has certainly not executed: of a rotation there is nothing to revert. */
export class NotExecutedError extends AppError {
  constructor(options: AppErrorOptions) {
    super('DB_QUERY_FAILED', options);
  }
}
