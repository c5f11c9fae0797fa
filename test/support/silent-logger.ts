import { createLogger } from '../../src/infrastructure/logging/log.ts';

/** A logger without output, for tests that do not check the log. */
export const silentLogger = createLogger({ level: 'silent', nodeEnv: 'test', destination: { write: () => undefined } });
