import { createLogger } from '../../src/infrastructure/logging/log.ts';

/** For tests that do not look at the log. */
export const silentLogger = createLogger({
  level: 'silent',
  nodeEnv: 'test',
  destination: { write: () => undefined },
});
