import { type ServiceProcess, spawnService } from './process.ts';

/** `npm run data -- …` without npm, in a process of its own. */
export const startData = (
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  wrap: readonly string[] = [],
): ServiceProcess => spawnService(env, wrap, undefined, ['data', ...args]);

/** The same, until it has ended. @returns its exit status, and what it printed. */
export const runData = async (
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  wrap: readonly string[] = [],
): Promise<{ readonly status: number | null; readonly stdout: string; readonly stderr: string }> => {
  const { outcome, stdout, stderr } = startData(args, env, wrap);
  const { code } = await outcome;
  return { status: code, stdout: stdout.join('\n'), stderr: stderr.join('\n') };
};
