import { writeSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { monotonicTime } from '../../adapters/clock/system.ts';

/** The most bytes of lines that wait to be written. Further lines are dropped. */
const MAX_WAITING = 1_048_576;
/** Milliseconds between attempts to write. Before `close`, they double up to `LAST_RETRY` after attempts that have written nothing. */
const FIRST_RETRY = 1;
const LAST_RETRY = 100;
/** Milliseconds to write the waiting lines when the log is closed, or the process ends. */
const CLOSE_TIMEOUT = 1_000;

/**
 * Writes each line to a file descriptor at once. While writing fails, as on a full disk or to a pipe that is not read, up to a mebibyte of lines waits.
 * @param fd a descriptor to which a write should not block
 */
export const boundedDestination = (fd: number) => {
  /** The waiting lines. The first one lacks the part that was written already. */
  const waitingLines: Buffer[] = [];
  let waitingBytes = 0;
  let lost = 0;
  let reported = 0;
  let report: (lost: number) => void = () => undefined;
  let retry: NodeJS.Timeout | undefined;

  /** Writes as many waiting lines as possible. @returns whether anything was written */
  const writeWaiting = (): boolean => {
    const before = waitingBytes;
    try {
      for (let [line] = waitingLines; line !== undefined; [line] = waitingLines) {
        const writtenBytes = writeSync(fd, line);
        waitingBytes -= writtenBytes;
        if (writtenBytes < line.length) waitingLines[0] = line.subarray(writtenBytes);
        else waitingLines.shift();
      }
    } catch {
      // For instance, a pipe is full. The lines stay.
    }
    return waitingBytes < before;
  };

  const retryAfter = (delay: number): void => {
    retry = setTimeout(() => {
      const isMoving = writeWaiting();
      retry = undefined;
      if (waitingLines.length > 0) retryAfter(isMoving ? FIRST_RETRY : Math.min(2 * delay, LAST_RETRY));
      else reportLost();
    }, delay).unref();
  };

  const stopRetrying = (): void => {
    clearTimeout(retry);
    retry = undefined;
  };

  const reportLost = (): void => {
    const count = lost - reported;
    reported = lost;
    if (count > 0) report(count);
  };

  /** Writes the waiting lines if the process exits without `close`, for instance after an uncaught error. */
  const writeAtExit = (): void => {
    const end = monotonicTime() + CLOSE_TIMEOUT;
    const never = new Int32Array(new SharedArrayBuffer(4));
    while (waitingLines.length > 0 && monotonicTime() < end)
      if (!writeWaiting()) Atomics.wait(never, 0, 0, FIRST_RETRY);
  };
  process.on('exit', writeAtExit);

  return {
    /** Writes a line, keeps it for later, or drops it. Never throws. */
    write: (text: string): void => {
      const line = Buffer.from(text);
      if (waitingBytes + line.length > MAX_WAITING) {
        lost += 1;
        return;
      }
      waitingLines.push(line);
      waitingBytes += line.length;
      if (retry !== undefined) return;
      writeWaiting();
      if (waitingLines.length > 0) retryAfter(FIRST_RETRY);
    },
    lostLines: (): number => lost,
    /** @param listener called if lines were dropped, with their number: when no line waits any more, and at `close` */
    onRecovery: (listener: (lost: number) => void): void => {
      report = listener;
    },
    /** Writes the waiting lines, and drops those that are not written after a second. */
    close: async (): Promise<void> => {
      stopRetrying();
      const end = monotonicTime() + CLOSE_TIMEOUT;
      while (waitingLines.length > 0 && monotonicTime() < end) if (!writeWaiting()) await pause(FIRST_RETRY);
      reportLost();
      stopRetrying();
      lost += waitingLines.splice(0).length;
      waitingBytes = 0;
      process.off('exit', writeAtExit);
    },
  };
};
