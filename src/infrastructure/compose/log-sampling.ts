import type { Logger } from 'pino';
import { type LogSampling, logSampling } from '../../adapters/http/logging/log-sampling.ts';
import type { Config } from '../config.ts';

/** Development logs every request: its clients are the developer's own. */
export const samplingFor = (environment: Config['environment'], logger: Logger): LogSampling =>
  environment === 'development'
    ? { admits: ({ level }) => logger.isLevelEnabled(level), close: () => undefined }
    : logSampling(logger);
