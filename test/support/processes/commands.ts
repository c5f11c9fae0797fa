import { type Command, runAction } from '../../../src/infrastructure/commands/command.ts';
import { COMMANDS } from '../../../src/infrastructure/commands/run.ts';
import type { Terminal } from '../../../src/infrastructure/commands/terminal.ts';
import { type ServiceProcess, spawnService } from './process.ts';

type Env = Readonly<Record<string, string | undefined>>;
type More = { readonly command?: Command; readonly ask?: Terminal['ask']; readonly isShown?: boolean };

/** `npx tandem NAME …` in this process, by default without anybody to ask. What it logs is not in `stderr`. */
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

/** The same in a process of its own, which `wrap` starts. */
export const spawnCommand = (
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  wrap: readonly string[] = [],
): ServiceProcess => spawnService(env, wrap, undefined, args);

/** The same, until it has ended. */
export const runThere = async (...given: Parameters<typeof spawnCommand>) => {
  const { outcome, stdout, stderr } = spawnCommand(...given);
  const { code: status } = await outcome;
  return { status, stdout: stdout.join('\n'), stderr: stderr.join('\n') };
};

/** Lets a command write files of so many KiB only. Node.js ignores the signal that comes with the error. */
export const smallFiles = (kibibytes: number): readonly string[] => [
  '/bin/bash',
  '-c',
  `ulimit -f ${kibibytes}; exec "$@"`,
  'bash',
];
