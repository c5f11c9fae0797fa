import type { Logger } from 'pino';
import type { LoginAttempts } from '../../application/ports/login-attempts.ts';

/** Milliseconds during which a Redis that failed is not asked again, so that a frozen one delays few log-ins. */
const PAUSE = 1000;

type Counts = {
  /** For all instances; may reject. */
  readonly shared: LoginAttempts;
  /** For this one alone. */
  readonly own: LoginAttempts;
};

/** Counts for all instances, or in the process while that can't be had; each change is logged once. */
export const sharedLoginAttempts = ({ shared, own }: Counts, logger: Logger): LoginAttempts => {
  let pausedUntil = 0;
  let away = false;
  const back = (): void => {
    if (away) logger.info('Redis is back: failed log-ins are counted together again');
    away = false;
  };
  const gone = (error: unknown): void => {
    if (!away) logger.warn({ err: error }, 'Redis is away: failed log-ins are counted in the process');
    away = true;
    pausedUntil = performance.now() + PAUSE;
  };
  const ask = async <Answer>(work: (attempts: LoginAttempts) => Promise<Answer>): Promise<Answer> => {
    if (performance.now() < pausedUntil) return work(own);
    try {
      const answer = await work(shared);
      back();
      return answer;
    } catch (error) {
      gone(error);
      return work(own);
    }
  };
  return {
    begin: (attempt) => ask(({ begin }) => begin(attempt)),
    succeed: (attempt) => ask(({ succeed }) => succeed(attempt)),
    withdraw: (attempt) => ask(({ withdraw }) => withdraw(attempt)),
  };
};
