import { AppError } from '../../domain/errors/app-error.ts';
import { inPlaceOf } from '../redaction/stack-frames.ts';

/** What ioredis says, word for word, of a failure to which it gives neither a code nor a name of its own. */
const KNOWN_MESSAGES: ReadonlySet<string> = new Set([
  'Command timed out',
  'Connection is closed.',
  "Stream isn't writeable and enableOfflineQueue options is false",
  "Cluster isn't ready and enableOfflineQueue options is false",
]);

/** What may be told of an error of Redis: names, without keys, values and script texts. */
const redisReason = (error: unknown): string => {
  if (!(error instanceof Error)) return 'unknown';
  const code: unknown = Reflect.get(error, 'code');
  // Redis begins its own messages with a code: OOM, LOADING, READONLY, NOAUTH, CLUSTERDOWN.
  const [reply] = /^[A-Z]{2,32}(?= )/.exec(error.message) ?? [];
  const known = KNOWN_MESSAGES.has(error.message) ? `(${error.message})` : undefined;
  return [error.name, code, reply, known].filter((word) => typeof word === 'string').join(' ');
};

/**
 * What Redis answers.
 * @throws AppError DB_QUERY_FAILED. It has no `cause`: ioredis puts the command and its arguments into that.
 */
export const answered = async <Reply>(reply: Promise<Reply>): Promise<Reply> => {
  try {
    return await reply;
  } catch (error) {
    throw inPlaceOf(error, new AppError('DB_QUERY_FAILED', { reason: redisReason(error) }));
  }
};
