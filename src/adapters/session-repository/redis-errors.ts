import { AppError } from '../../domain/errors/app-error.ts';
import { reasonOf } from '../redaction/redact-error.ts';
import { inPlaceOf } from '../redaction/stack-frames.ts';

/**
 * What Redis answers.
 * @throws AppError DB_QUERY_FAILED. It has no `cause`: ioredis puts the command and its arguments into that.
 */
export const answered = async <Reply>(reply: Promise<Reply>): Promise<Reply> => {
  try {
    return await reply;
  } catch (error) {
    throw inPlaceOf(error, new AppError('DB_QUERY_FAILED', { reason: reasonOf(error) }));
  }
};
