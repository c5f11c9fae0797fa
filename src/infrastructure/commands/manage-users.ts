import { once } from 'node:events';
import type { Overrides } from '../compose/ports.ts';
import { print, printError } from '../printable.ts';
import type { Status } from './users/answer.ts';

/** Asks on standard error, since standard output is for the result. */
const askOnTerminal = async (question: string): Promise<boolean> => {
  const { createInterface } = await import('node:readline/promises');
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  // Ctrl-C and Ctrl-D close it without an answer.
  const closed = once(terminal, 'close').then(() => '');
  const answer = await Promise.race([terminal.question(`${question} [y/N] `).catch(() => ''), closed]);
  terminal.close();
  return /^y(?:es)?$/i.test(answer.trim());
};

/**
 * The command `npx tandem users`, on the terminal of the process: finds, shows and changes accounts.
 * @param args those of the command, such as `['events', 'ada']`
 * @param env the variables of the service
 * @param overrides the caller's storage, in place of the configured one; `close` is called at the end
 * @returns the exit status
 *
 * @example
 * process.exit(await manageUsers(process.argv.slice(2), process.env, { storage, close: () => database.close() }));
 */
export const manageUsers = async (
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  { close, ...overrides }: Omit<Overrides, 'checks'> = {},
): Promise<Status> => {
  const { runUsers } = await import('./users.ts');
  const ask = process.stdin.isTTY ? askOnTerminal : null;
  try {
    return await runUsers(args, env, { ask, print, warn: printError }, overrides);
  } finally {
    await close?.();
  }
};
