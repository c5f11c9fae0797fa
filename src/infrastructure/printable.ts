import { systemReason } from '../adapters/log/redact-error.ts';

/** Characters that a terminal may take for commands, or that change the order of what it shows. */
const COMMANDS = /[\p{Cc}\p{Cf}]/gu;

/** The text without characters that a terminal may take for commands. */
export const printable = (text: string): string => text.replace(COMMANDS, '\ufffd');

/** JSON on one line, with such characters escaped. */
export const printableJson = (json: string): string =>
  json.replace(COMMANDS, (character) =>
    Array.from(character.split(''), (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`).join(''),
  );

const ignore = (): undefined => undefined;

/** Writes to standard error. That it cannot be written ends nothing. */
export const printError = (text: string): void => {
  if (process.stderr.listenerCount('error') === 0) process.stderr.on('error', ignore);
  process.stderr.write(text);
};

/**
 * Writes to standard output. A reader that has closed it, as `head` does, is no error.
 * @throws Error when it cannot be written, as on a full disk.
 */
export const print = (text: string): Promise<void> =>
  new Promise((resolve, reject) => {
    // The callback has the error. Without a listener it would end the process as well.
    if (process.stdout.listenerCount('error') === 0) process.stdout.on('error', ignore);
    process.stdout.write(text, (error) => {
      if (!error || Reflect.get(error, 'code') === 'EPIPE') resolve();
      else reject(new Error(`The output could not be written: ${systemReason(error)}`));
    });
  });
