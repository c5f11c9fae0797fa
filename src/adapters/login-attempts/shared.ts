import type { Logger } from 'pino';
import type { LoginAttempts } from '../../application/ports/login-attempts.ts';
import { withFallback } from '../resilience/with-fallback.ts';

type Counts = {
  /** Counts for all instances; may reject. */
  readonly shared: LoginAttempts;
  /** Counts for this instance alone; does not reject. */
  readonly own: LoginAttempts;
};

/** Counts for all instances, and in this process while the shared store is unavailable. Never rejects. */
export const sharedLoginAttempts = ({ shared, own }: Counts, logger: Logger): LoginAttempts => {
  const redis = withFallback(logger, {
    away: 'Redis is away: failed log-ins are counted in the process',
    back: 'Redis is back: failed log-ins are counted together again',
  });
  const ask = <Answer>(work: (attempts: LoginAttempts) => Promise<Answer>): Promise<Answer> =>
    redis.ask(
      () => work(shared),
      () => work(own),
    );
  return {
    begin: (attempt) => ask(({ begin }) => begin(attempt)),
    succeed: (attempt) => ask(({ succeed }) => succeed(attempt)),
    withdraw: (attempt) => ask(({ withdraw }) => withdraw(attempt)),
  };
};
