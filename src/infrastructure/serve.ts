import { currentRequest } from '../adapters/http/request/request-scope.ts';
import type { OwnParts } from './compose/own-parts.ts';
import { compose } from './compose.ts';
import type { Config } from './config.ts';
import { purgeSessions } from './database/purge-sessions.ts';
import { addressText } from './http-server/listen-error.ts';
import { listenForMetrics, probeMetricsAddress } from './http-server/metrics-server.ts';
import { listen, probeAddress } from './http-server/server.ts';
import { createLogger } from './logging/logger.ts';
import { VERSION } from './version.ts';

/**
 * Starts the service.
 * @param own the caller's own adapters, in place of the service's
 * @returns a function that stops it: responds to every accepted request, then closes all connections
 * @throws Error that names the invalid setting
 */
export const serve = async (config: Config, own: OwnParts = {}): Promise<(why: string) => Promise<void>> => {
  const logger = createLogger(
    { level: config.logLevel, environment: config.environment, version: VERSION, pretty: process.stdout.isTTY },
    () => ({ requestId: currentRequest()?.requestId }),
  );
  for (const warning of config.warnings) logger.warn(warning);
  // Before the database is created, which takes seconds.
  await probeAddress(config);
  if (config.metrics !== null) await probeMetricsAddress(config.metrics);
  const service = await compose(config, logger, own);
  const server = await listen(service.http, config);
  const metrics = config.metrics && service.metrics && (await listenForMetrics(service.metrics, config.metrics));
  const background = new AbortController();
  const purging = purgeSessions(service.ports, logger, background.signal);
  const { address } = server;
  logger.info({ address, url: config.baseUrl }, `Tandem is listening on ${addressText(address.address, address.port)}`);
  return async (why) => {
    logger.info({ why }, 'Tandem is stopping');
    background.abort();
    await Promise.all([server.close(), purging]);
    await service.close();
    await metrics?.closeNow();
  };
};
