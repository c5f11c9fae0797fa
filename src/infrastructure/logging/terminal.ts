import type { DestinationStream } from 'pino';
import { printable } from '../printable.ts';

/** Texts without what a terminal may take for commands. Stacks have several lines. */
const shown = (_name: string, value: unknown): unknown =>
  typeof value === 'string' ? value.split('\n').map(printable).join('\n') : value;

/**
 * Writes the lines of the log as text for a developer's terminal. Its library is imported when it is used.
 * @param destination standard output by default
 */
export const terminalStream = async (destination?: NodeJS.WritableStream): Promise<DestinationStream> => {
  const { default: pretty } = await import('pino-pretty');
  const stream = pretty({
    translateTime: 'SYS:HH:MM:ss.l',
    ignore: 'pid,hostname,environment,version',
    singleLine: true,
    ...(destination === undefined ? {} : { destination }),
  });
  return { write: (line) => void stream.write(`${JSON.stringify(JSON.parse(line), shown)}\n`) };
};
