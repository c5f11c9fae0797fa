import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { runAtEnd } from '../closing.ts';
import { killAtExit } from '../servers/keeper.ts';
import { temporaryDirectory } from '../storage/temporary-directory.ts';
import { COMPILE_CACHE } from './compile-cache.ts';

export const MAIN = fileURLToPath(new URL('../../../src/infrastructure/main.js', import.meta.url));

type Outcome = { readonly code: number | null; readonly signal: NodeJS.Signals | null };

export type ServiceProcess = {
  readonly child: ChildProcess;
  readonly stdout: readonly string[];
  readonly stderr: readonly string[];
  /** Resolves when the process has ended. */
  readonly outcome: Promise<Outcome>;
};

/**
 * Runs a program, by default `main.js` of the service, in a new process. Of this environment it gets only PATH, and it does not
 * load the `.env` of the checkout.
 */
export const spawnService = (
  env: Readonly<Record<string, string>>,
  wrap: readonly string[] = [],
  program = MAIN,
  programArgs: readonly string[] = [],
): ServiceProcess => {
  const [command = '', ...args] = [...wrap, process.execPath, program, ...programArgs];
  const child = spawn(command, args, {
    cwd: import.meta.dirname,
    env: { PATH: process.env.PATH ?? '', PORT: '0', ...COMPILE_CACHE, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  killAtExit(child);
  const stdout: string[] = [];
  const stderr: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => stdout.push(line));
  createInterface({ input: child.stderr }).on('line', (line) => stderr.push(line));
  const outcome = once(child, 'close').then(([code, signal]): Outcome => ({ code, signal }));
  return { child, stdout, stderr, outcome };
};

export type RunningService = ServiceProcess & {
  readonly url: string;
  /** Stops the process and waits until it has ended. */
  readonly stop: (signal?: NodeJS.Signals) => Promise<Outcome>;
};

/**
 * Starts the service and waits until it listens. It is killed at the end of the test or file. By default its DATA_DIR is temporary.
 * @throws Error with the output of the process if it ends instead
 */
export const runService = async (
  env: Readonly<Record<string, string>>,
  wrap: readonly string[] = [],
  program = MAIN,
): Promise<RunningService> => {
  const own = wrap.length === 0 && { DATA_DIR: temporaryDirectory().path };
  const service = spawnService({ ...own, ...env }, wrap, program);
  const port = await Promise.race([portOf(service), service.outcome.then(() => null)]);
  if (port === null) {
    const last = [...service.stdout.slice(-1), ...service.stderr];
    throw new Error(`the service did not start: ${last.join('\n')}`);
  }
  runAtEnd(() => {
    service.child.kill('SIGKILL');
    return service.outcome;
  });
  return {
    ...service,
    url: `http://127.0.0.1:${port}`,
    stop: (signal = 'SIGTERM') => {
      service.child.kill(signal);
      return service.outcome;
    },
  };
};

const IN_MEMORY = fileURLToPath(new URL('./in-memory.ts', import.meta.url));

/** Starts a service that keeps its storage in memory, which is faster than `runService`. */
export const runInMemory = (env: Readonly<Record<string, string>>): Promise<RunningService> =>
  runService(env, [], IN_MEMORY);

const portOf = ({ child }: ServiceProcess): Promise<number> =>
  new Promise((resolve) => {
    createInterface({ input: child.stdout ?? process.stdin }).on('line', (line) => {
      const output: { readonly address?: { readonly port: number } } = JSON.parse(line);
      if (output.address !== undefined) resolve(output.address.port);
    });
  });
