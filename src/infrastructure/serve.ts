import { currentRequest } from '../adapters/http/request/request-scope.ts';
import { compose } from './compose.ts';
import type { Config } from './config.ts';
import { purgeSessions } from './database/purge-sessions.ts';
import { listenForMetrics } from './http-server/metrics-server.ts';
import { listen } from './http-server/server.ts';
import { createLogger } from './logging/logger.ts';
import { VERSION } from './version.ts';

/** Serves until it is told to stop. @returns how to stop it: what was accepted is answered, then all connections are closed. */
export const serve = async (config: Config): Promise<(why: string) => Promise<void>> => {
  const logger = createLogger(
    { level: config.logLevel, environment: config.environment, version: VERSION, pretty: process.stdout.isTTY },
    () => ({ requestId: currentRequest()?.requestId }),
  );
  for (const warning of config.warnings) logger.warn(warning);
  const service = await compose(config, logger);
  const server = await listen(service.http, config);
  const metrics = config.metrics && service.metrics && (await listenForMetrics(service.metrics, config.metrics));
  const background = new AbortController();
  const purging = purgeSessions(service.ports, logger, background.signal);
  logger.info({ address: server.address, url: config.baseUrl }, 'Tandem listens');
  return async (why) => {
    logger.info({ why }, 'Tandem stops');
    background.abort();
    await Promise.all([server.close(), purging]);
    await service.close();
    await metrics?.cut();
  };
};
