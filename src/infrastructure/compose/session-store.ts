import type { Logger } from 'pino';
import type { Check } from '../../adapters/http/routes/health.ts';
import { redisSessionRepository } from '../../adapters/session-repository/redis.ts';
import { ROTATION_BUDGET, rotationBudgets } from '../../adapters/session-repository/rotation-recovery/budgets.ts';
import { recoveringSessionRepository } from '../../adapters/session-repository/rotation-recovery/recovering-repository.ts';
import type { SessionRepository } from '../../application/ports/session-repository.ts';
import type { Config } from '../config.ts';
import { openRedis, pingRedis } from '../redis.ts';

export type SessionStore = {
  readonly sessions: SessionRepository;
  readonly checks: readonly Check[];
  readonly close: () => void;
};

/** Where sessions are unless they are in Redis. */
export type SessionsOfDatabase = {
  /** Milliseconds after which a rotation has happened or never will, unless requests have less. */
  readonly rotationBudget: number;
  readonly sessionsWithin: (options: { readonly budget: number }) => SessionRepository;
};

/**
 * Opens the store of the sessions. Reverts a rotation whose outcome is unknown (ADR 0022).
 * @throws Error that names REDIS_URL when that Redis is required and can't be reached.
 */
export const openSessionStore = async (
  { sessionStore, redisUrls, requestTimeout }: Pick<Config, 'sessionStore' | 'redisUrls' | 'requestTimeout'>,
  database: SessionsOfDatabase,
  logger: Logger,
): Promise<SessionStore> => {
  if (sessionStore === 'database') {
    const { rotation: budget, answer: answerBudget } = rotationBudgets(database.rotationBudget, requestTimeout);
    const sessions = recoveringSessionRepository(database.sessionsWithin({ budget }), { answerBudget });
    return { sessions, checks: [], close: sessions.close };
  }
  const { rotation: budget, answer: answerBudget } = rotationBudgets(ROTATION_BUDGET.redis, requestTimeout);
  const redis = await openRedis(redisUrls, logger);
  const sessions = recoveringSessionRepository(redisSessionRepository(redis, { budget }), { answerBudget });
  return {
    sessions,
    checks: [{ name: 'sessions', ping: () => pingRedis(redis), required: true }],
    close: () => {
      sessions.close();
      redis.disconnect();
    },
  };
};
