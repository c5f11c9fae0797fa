import { runData as runDataCommand } from '../../../src/infrastructure/commands/data.ts';
import { type ServiceProcess, spawnService } from './process.ts';

type Env = Readonly<Record<string, string>>;

/** `npm run data -- …` without npm, in a process of its own. */
export const startData = (args: readonly string[], env: Env, wrap: readonly string[] = []): ServiceProcess =>
  spawnService(env, wrap, undefined, ['data', ...args]);

/** The same in this process. */
export const runData = async (args: readonly string[], env: Env) => {
  const { status, output, errors } = await runDataCommand(args, env);
  return { status, stdout: output.trimEnd(), stderr: errors.trimEnd() };
};

/** The same in a process that `wrap` starts, until it has ended. @returns its exit status, and what it printed. */
export const runDataIn = async (wrap: readonly string[], args: readonly string[], env: Env) => {
  const { outcome, stdout, stderr } = startData(args, env, wrap);
  const { code } = await outcome;
  return { status: code, stdout: stdout.join('\n'), stderr: stderr.join('\n') };
};
