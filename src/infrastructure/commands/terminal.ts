import { once } from 'node:events';
import { systemReason } from '../../adapters/log/redact-error.ts';
import { CommandError } from '../command-error.ts';

export type Terminal = {
  /** Asks a yes-or-no question; `null` if standard input is no terminal. */
  readonly ask: ((question: string) => Promise<boolean>) | null;
  readonly print: (text: string) => Promise<void>;
  readonly isShown: boolean;
  readonly warn: (text: string) => void;
};

const ignore = (): undefined => undefined;

/** Asks on standard error, since standard output has the result of the command. */
const ask = async (question: string): Promise<boolean> => {
  const { createInterface } = await import('node:readline/promises');
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  // Ctrl-C and Ctrl-D close the interface without an answer, which counts as no.
  const closed = once(terminal, 'close').then(() => '');
  const answer = await Promise.race([terminal.question(`${question} [y/N] `).catch(() => ''), closed]);
  terminal.close();
  return /^y(?:es)?$/i.test(answer.trim());
};

/** Writes to standard output, unless a reader such as `head` has closed it. @throws Error if that fails, for instance on a full disk */
const print = (text: string): Promise<void> =>
  new Promise((resolve, reject) => {
    // The callback below handles errors, but an `error` event without a listener would end the process.
    if (process.stdout.listenerCount('error') === 0) process.stdout.on('error', ignore);
    process.stdout.write(text, (error) => {
      if (!error || Reflect.get(error, 'code') === 'EPIPE') resolve();
      else reject(new Error(`The output could not be written: ${systemReason(error)}`));
    });
  });

const warn = (text: string): void => {
  if (process.stderr.listenerCount('error') === 0) process.stderr.on('error', ignore);
  process.stderr.write(text);
};

export const processTerminal = (): Terminal => ({
  ask: process.stdin.isTTY ? ask : null,
  print,
  isShown: process.stdout.isTTY === true,
  warn,
});

export const assertConfirmed = async (question: string, ask: Terminal['ask']): Promise<void> => {
  if (ask === null)
    throw new CommandError('not-confirmed', 'This cannot be undone: without a terminal to ask on, it needs --yes.', 2);
  if (!(await ask(question))) throw new CommandError('not-confirmed', 'Nothing was changed.', 1);
};
