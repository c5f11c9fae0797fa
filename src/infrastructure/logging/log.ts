import { isatty } from 'node:tty';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import { boundedDestination } from './bounded-destination.ts';
import { createLogger, terminalText } from './logger.ts';
import { unblockedStream } from './standard-stream.ts';

export type Log = {
  readonly logger: Logger;
  /** How many lines were dropped so far, since they could not be written. */
  readonly lostLines: () => number;
  /** Writes what waits, or gives up after a second. */
  readonly close: () => Promise<void>;
};

/**
 * The log of the process on standard output or standard error. It never waits for what it is written to: ADR 0018.
 * @param mixin as of `createLogger`
 */
export const openLog = async (
  { logLevel: level, environment }: Pick<Config, 'logLevel' | 'environment'>,
  stream: 'stdout' | 'stderr',
  mixin?: () => object,
): Promise<Log> => {
  const fd = unblockedStream(stream);
  const { write, lostLines, onRecovery, close } = boundedDestination(fd);
  // A developer's terminal gets text; everything else gets JSON lines.
  const toText = environment === 'development' && stream === 'stdout' && isatty(fd) ? await terminalText() : null;
  const destination = { write: toText === null ? write : (line: string) => write(toText(line)) };
  const logger = createLogger({ level, environment, destination }, mixin);
  onRecovery((lines) => logger.warn({ lines }, 'log lines were lost'));
  return { logger, lostLines, close };
};
