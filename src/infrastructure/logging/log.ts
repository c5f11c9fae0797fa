import { closeSync, constants, fstatSync, openSync } from 'node:fs';
import { isatty } from 'node:tty';
import type { Config } from '../config.ts';
import { boundedDestination } from './bounded-destination.ts';
import { createLogger, terminalText } from './logger.ts';

export type Log = Awaited<ReturnType<typeof openLog>>;

/**
 * The log of the process on standard output or standard error. It never waits for what it is written to: ADR 0018.
 * @param mixin as of `createLogger`
 */
export const openLog = async (
  { logLevel: level, environment }: Pick<Config, 'logLevel' | 'environment'>,
  stream: 'stdout' | 'stderr',
  mixin?: () => object,
) => {
  const fd = unblockedStream(stream);
  const { write, lostLines, onRecovery, close } = boundedDestination(fd);
  // A developer's terminal gets text; everything else gets JSON lines.
  const toText = environment === 'development' && stream === 'stdout' && isatty(fd) ? await terminalText() : null;
  const destination = { write: toText === null ? write : (line: string) => write(toText(line)) };
  const logger = createLogger({ level, environment, destination }, mixin);
  onRecovery((lines) => logger.warn({ lines }, 'log lines were lost'));
  return { logger, lostLines, close };
};

const STREAMS = { stdout: 1, stderr: 2 } as const;

/**
 * A file descriptor of standard output or standard error that can be written to without waiting for a reader, whatever it leads to. A file is
 * written by the system without one.
 */
const unblockedStream = (name: keyof typeof STREAMS): number => {
  const fd = STREAMS[name];
  if (isatty(fd)) return reopened(name) ?? fd;
  const kind = fstatSync(fd);
  // Node makes pipes and sockets non-blocking when it opens their stream, and undoes that at the end.
  if (kind.isFIFO() || kind.isSocket()) void process[name];
  return fd;
};

/** A terminal that is stopped with Ctrl-S, or that nobody reads. Others who write to it go on as before. */
const reopened = (name: string): number | undefined => {
  try {
    const fd = openSync(`/dev/${name}`, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    if (isatty(fd)) return fd;
    closeSync(fd);
  } catch {
    // The terminal belongs to another user, or there is no such path.
  }
  return undefined;
};
