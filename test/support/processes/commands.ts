import { type Command, runAction } from '../../../src/infrastructure/commands/command.ts';
import { COMMANDS } from '../../../src/infrastructure/commands/run.ts';
import type { Terminal } from '../../../src/infrastructure/commands/terminal.ts';
import { type ServiceProcess, spawnService } from './process.ts';

type Env = Readonly<Record<string, string | undefined>>;
type More = { readonly command?: Command; readonly ask?: Terminal['ask']; readonly isShown?: boolean };

/** Runs `npx tandem NAME …` in this process, by default without somebody who answers questions. `stderr` has no log lines. */
export const runHere = async (
  [name = '', ...args]: readonly string[],
  env: Env = {},
  { command, ask = null, isShown = false }: More = {},
) => {
  const [printed, warned]: [string[], string[]] = [[], []];
  const terminal = {
    ask,
    isShown,
    print: async (text: string) => void printed.push(text),
    warn: (text: string) => void warned.push(text),
  };
  const found = command ?? (await COMMANDS[name]?.());
  if (found === undefined) throw new Error(`There is no command ${name}.`);
  const status = await runAction(name, found, args, { LOG_LEVEL: 'silent', ...env }, terminal);
  return { status, stdout: printed.join(''), stderr: warned.join('') };
};

/** Starts `npx tandem NAME …` in a new process. @param wrap a command that starts the process */
export const spawnCommand = (
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  wrap: readonly string[] = [],
): ServiceProcess => spawnService(env, wrap, undefined, args);

/** Runs `npx tandem NAME …` in a new process until it ends. */
export const runSpawned = async (...given: Parameters<typeof spawnCommand>) => {
  const { outcome, stdout, stderr } = spawnCommand(...given);
  const { code: status } = await outcome;
  return { status, stdout: stdout.join('\n'), stderr: stderr.join('\n') };
};

/** A command that limits the size of files that a program writes. Node.js ignores the signal that comes with the error. */
export const smallFiles = (kibibytes: number): readonly string[] => [
  '/bin/bash',
  '-c',
  `ulimit -f ${kibibytes}; exec "$@"`,
  'bash',
];
