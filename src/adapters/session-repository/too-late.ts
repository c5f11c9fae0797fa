import { AppError } from '../../domain/errors/app-error.ts';

/** What a rotation is told that its store came to only after its deadline: nothing happened (ADR 0022). */
export const tooLate = (): AppError => new AppError('DB_QUERY_FAILED', { reason: 'the rotation came too late' });
