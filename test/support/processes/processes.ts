import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { COMPILE_CACHE } from './compile-cache.ts';

export type Helper = {
  readonly pid: number;
  /** The first output of the process. */
  readonly output: string;
  /** Returns the error output so far. */
  readonly complaints: () => string;
  /** Kills the process without a chance to clean up, and waits until it has ended. */
  readonly kill: () => Promise<void>;
};

const endProcess = async (child: ChildProcessWithoutNullStreams): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
};

/** Runs a script in a new process, and waits for its first output. */
export const startHelper = async (script: URL, ...given: string[]): Promise<Helper> => {
  const child = spawn(process.execPath, [fileURLToPath(script), ...given], {
    env: { ...process.env, ...COMPILE_CACHE },
  });
  let complaints = '';
  child.stderr.on('data', (chunk) => {
    complaints += chunk;
  });
  const [output] = await Promise.race([
    once(child.stdout, 'data'),
    once(child, 'exit').then(() => Promise.reject(new Error(`${script.pathname} ended: ${complaints}`))),
  ]);
  return { pid: child.pid ?? 0, output: String(output), complaints: () => complaints, kill: () => endProcess(child) };
};
