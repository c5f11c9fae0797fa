import { systemReason } from '../../adapters/redaction/system-reason.ts';

/**
 * Writes to standard output.
 * @returns whether somebody reads on; not when the reader has closed it, as `head` does.
 * @throws Error when it cannot be written, as on a full disk.
 */
export const print = (text: string): Promise<boolean> =>
  new Promise((resolve, reject) => {
    // The callback has the error. Without a listener it would end the process as well.
    if (process.stdout.listenerCount('error') === 0) process.stdout.on('error', () => undefined);
    process.stdout.write(text, (error) => {
      if (!error) resolve(true);
      else if (Reflect.get(error, 'code') === 'EPIPE') resolve(false);
      else reject(new Error(`The output could not be written: ${systemReason(error)}`));
    });
  });
