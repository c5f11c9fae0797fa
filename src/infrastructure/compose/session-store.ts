import type { Logger } from 'pino';
import type { Check } from '../../adapters/http/routes/health.ts';
import { redisSessionRepository } from '../../adapters/session-repository/redis.ts';
import { rotationBudgets } from '../../adapters/session-repository/rotation-recovery/budgets.ts';
import { recoveringSessionRepository } from '../../adapters/session-repository/rotation-recovery/recovering-repository.ts';
import type { SessionRepository } from '../../application/ports/session-repository.ts';
import type { Config } from '../config.ts';
import { openRedis } from '../redis.ts';

export type SessionStore = {
  readonly sessions: SessionRepository;
  readonly checks: readonly Check[];
  readonly close: () => void;
};

/**
 * Opens the store of the sessions. Reverts a rotation whose outcome is unknown (ADR 0022).
 * @throws Error that names REDIS_URL when that Redis is required and can't be reached.
 */
export const openSessionStore = async (
  { sessionStore, redisUrls, requestTimeout }: Pick<Config, 'sessionStore' | 'redisUrls' | 'requestTimeout'>,
  inDatabase: (options: { budget: number }) => SessionRepository,
  logger: Logger,
): Promise<SessionStore> => {
  const { rotation: budget, answer: answerBudget } = rotationBudgets(sessionStore, requestTimeout);
  const recovering = (store: SessionRepository) => recoveringSessionRepository(store, { answerBudget });
  if (sessionStore === 'database') {
    const sessions = recovering(inDatabase({ budget }));
    return { sessions, checks: [], close: sessions.close };
  }
  const redis = await openRedis(redisUrls, logger);
  const sessions = recovering(redisSessionRepository(redis, { budget }));
  return {
    sessions,
    checks: [{ name: 'sessions', ping: () => redis.ping(), required: true }],
    close: () => {
      sessions.close();
      redis.disconnect();
    },
  };
};
