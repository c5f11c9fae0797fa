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
    unavailable: 'Redis is unavailable: each instance counts failed log-ins for itself',
    available: 'Redis is available again: failed log-ins are counted for all instances',
  });
  const call = <Result>(work: (attempts: LoginAttempts) => Promise<Result>): Promise<Result> =>
    redis.call(
      () => work(shared),
      () => work(own),
    );
  return {
    begin: (attempt) => call(({ begin }) => begin(attempt)),
    succeed: (attempt) => call(({ succeed }) => succeed(attempt)),
    withdraw: (attempt) => call(({ withdraw }) => withdraw(attempt)),
  };
};
