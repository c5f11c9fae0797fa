import { createLogger } from '../../src/infrastructure/logging/logger.ts';

/** For tests that do not look at the log. */
export const silentLogger = createLogger({
  level: 'silent',
  environment: 'test',
  destination: { write: () => undefined },
});
