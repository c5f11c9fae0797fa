import type { Logger } from 'pino';
import type { Check } from '../../adapters/http/routes/health.ts';
import { redisSessionRepository } from '../../adapters/session-repository/redis.ts';
import { revertingSessionRepository } from '../../adapters/session-repository/reverting.ts';
import type { SessionRepository } from '../../application/ports/session-repository.ts';
import type { Config } from '../config.ts';
import { openRedis } from '../redis.ts';

/** Milliseconds within which a rotation happens or never will, and less when requests have less time. */
const BUDGETS: Readonly<Record<Config['sessionStore'], number>> = { database: 5_000, redis: 2_000 };
/** Milliseconds by which a rotation is waited for beyond its budget. */
const MARGIN = 500;

export type SessionStore = {
  readonly sessions: SessionRepository;
  readonly checks: readonly Check[];
  readonly close: () => void;
};

/**
 * Where sessions are kept. A rotation that failed there is taken back (ADR 0022).
 * @throws Error that names REDIS_URL, when they are kept in Redis and it is not there.
 */
export const openSessionStore = async (
  { sessionStore, redisUrls, requestTimeout }: Pick<Config, 'sessionStore' | 'redisUrls' | 'requestTimeout'>,
  inDatabase: (options: { budget: number }) => SessionRepository,
  logger: Logger,
): Promise<SessionStore> => {
  const budget = Math.min(BUDGETS[sessionStore], requestTimeout / 2);
  const reverting = (store: SessionRepository) => revertingSessionRepository(store, { patience: budget + MARGIN });
  if (sessionStore === 'database') {
    const sessions = reverting(inDatabase({ budget }));
    return { sessions, checks: [], close: sessions.close };
  }
  const redis = await openRedis(redisUrls, logger);
  const sessions = reverting(redisSessionRepository(redis, { budget }));
  return {
    sessions,
    checks: [{ name: 'sessions', ping: () => redis.ping(), required: true }],
    close: () => {
      sessions.close();
      redis.disconnect();
    },
  };
};
