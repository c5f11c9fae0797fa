import { AppError } from '../../domain/errors/app-error.ts';
import { reasonOf } from '../redaction/redact-error.ts';
import { inPlaceOf } from '../redaction/stack-frames.ts';

/**
 * The reply of Redis.
 * @throws AppError DB_QUERY_FAILED, without a `cause`: an error of ioredis contains the command and its arguments.
 */
export const answered = async <Reply>(reply: Promise<Reply>): Promise<Reply> => {
  try {
    return await reply;
  } catch (error) {
    throw inPlaceOf(error, new AppError('DB_QUERY_FAILED', { reason: reasonOf(error) }));
  }
};
