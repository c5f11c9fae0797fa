import { AppError } from '../../domain/errors/app-error.ts';
import { reasonOf } from '../redaction/redact-error.ts';
import { inPlaceOf } from '../redaction/stack-frames.ts';
import { NotExecutedError } from './rotation-recovery/not-executed.ts';

/**
 * The reply of Redis.
 * @throws AppError DB_QUERY_FAILED, without a `cause`: an error of ioredis contains the command and its arguments. It is a
 *   NotExecutedError when Redis has certainly not executed the command.
 */
export const answered = async <Reply>(reply: Promise<Reply>): Promise<Reply> => {
  try {
    return await reply;
  } catch (error) {
    const options = { reason: reasonOf(error) };
    throw inPlaceOf(error, isRefusal(error) ? new NotExecutedError(options) : new AppError('DB_QUERY_FAILED', options));
  }
};

/**
 * Codes with which Redis refuses a command before it executes it. Within a script these errors can only occur at its first
 * write: afterwards Redis executes the script to its end (since 7.0; earlier versions report all errors of a script as ERR).
 * NOPERM is not among them, since permissions are checked at each command of a script.
 */
const REFUSALS = [
  ...['MOVED', 'ASK', 'TRYAGAIN', 'CLUSTERDOWN', 'CROSSSLOT', 'MASTERDOWN', 'READONLY', 'NOREPLICAS'],
  ...['LOADING', 'OOM', 'MISCONF', 'BUSY', 'NOAUTH'],
].join('|');
const REPLY = new RegExp(`^(?:${REFUSALS}) `);
/** ioredis' error for a command that was redirected too often. Its last error may be another one, after which nothing is certain. */
const REDIRECTIONS = /^Too many Cluster redirections\. Last error: ReplyError: (?:MOVED|ASK|TRYAGAIN|CLUSTERDOWN) /;
/** ioredis' errors for commands that it has not sent. */
const NOT_SENT = new Set([
  "Stream isn't writeable and enableOfflineQueue options is false",
  "Cluster isn't ready and enableOfflineQueue options is false",
]);

const isRefusal = (error: unknown): boolean => {
  if (!(error instanceof Error)) return false;
  const { name, message } = error;
  return name === 'ReplyError' ? REPLY.test(message) : REDIRECTIONS.test(message) || NOT_SENT.has(message);
};
