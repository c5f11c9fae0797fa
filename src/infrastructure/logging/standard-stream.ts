import { closeSync, constants, fstatSync, openSync } from 'node:fs';
import { isatty } from 'node:tty';

const STREAMS = { stdout: 1, stderr: 2 } as const;

/**
 * A file descriptor of standard output or standard error that can be written to without waiting for a reader, whatever it leads to. A file is
 * written by the system without one.
 */
export const unblockedStream = (name: keyof typeof STREAMS): number => {
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
