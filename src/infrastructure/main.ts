import { currentRequest } from '../adapters/http/request-scope.ts';
import { compose } from './compose.ts';
import { type Config, parseConfig } from './config.ts';
import { createLogger } from './logger.ts';
import { purgeSessions } from './purge-sessions.ts';
import { listen } from './server.ts';
import { VERSION } from './version.ts';

const start = async (config: Config): Promise<void> => {
  const logger = createLogger(
    { level: config.logLevel, environment: config.environment, version: VERSION, pretty: process.stdout.isTTY },
    () => ({ requestId: currentRequest()?.requestId }),
  );
  for (const warning of config.warnings) logger.warn(warning);
  const service = await compose(config, logger);
  const server = await listen(service.http, config);
  const background = new AbortController();
  const purging = purgeSessions(service.ports, logger, background.signal);
  logger.info({ address: server.address, url: config.baseUrl }, 'Tandem listens');

  const stop = async (signal: NodeJS.Signals) => {
    logger.info({ signal }, 'Tandem stops');
    background.abort();
    await Promise.all([server.close(), purging]);
    await service.close();
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      process.once(signal, () => process.exit(1));
      stop(signal).catch(fail);
    });
  }
};

/** Whoever starts the service reads this on the standard error; nothing else does. */
const fail = (error: unknown): never => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
};

try {
  await start(parseConfig(process.env));
} catch (error) {
  fail(error);
}
