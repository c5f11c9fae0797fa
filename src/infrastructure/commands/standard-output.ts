import { systemReason } from '../../adapters/redaction/system-reason.ts';

/**
 * Writes to standard output. That the reader has closed it, as `head` does, is no fault.
 * @throws Error when it cannot be written, as on a full disk.
 */
export const print = (text: string): Promise<void> =>
  new Promise((resolve, reject) => {
    // The callback has the error. Without a listener it would end the process as well.
    if (process.stdout.listenerCount('error') === 0) process.stdout.on('error', () => undefined);
    process.stdout.write(text, (error) => {
      if (!error || Reflect.get(error, 'code') === 'EPIPE') resolve();
      else reject(new Error(`The output could not be written: ${systemReason(error)}`));
    });
  });
