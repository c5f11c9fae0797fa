import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { get } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../../test/support/servers/free-port.ts';
import { killAtExit } from '../../test/support/servers/keeper.ts';
import { type Cores, on } from '../machine/cores.ts';

export type Server = {
  readonly origin: string;
  readonly pid: number;
  /** Milliseconds from the start of the process to its first answer. */
  readonly firstAnswer: number;
  readonly stop: () => Promise<void>;
};

/** Milliseconds: until a server that does not answer is given up, and between two tries. */
const PATIENCE = 60_000;
const BETWEEN_TRIES = 5;
/** Milliseconds until a server that does not stop is killed. */
const GRACE = 10_000;

/**
 * Starts a program of Node.js on a free port below those that systems lend to outgoing connections: a try that comes before the
 * server would otherwise, now and then, connect to itself, and then nothing could listen.
 * @throws Error with what it said when it ends before it answers.
 */
export const startServer = async (
  program: string,
  env: Readonly<Record<string, string>>,
  cores: Cores,
): Promise<Server> => {
  const port = await freePort();
  const [command = '', ...args] = on(cores, [process.execPath, program]);
  const startedAt = performance.now();
  const child = spawn(command, args, {
    // Without the checkout's `.env`.
    cwd: import.meta.dirname,
    env: { PATH: process.env.PATH ?? '', NODE_ENV: 'production', HOST: '127.0.0.1', PORT: String(port), ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  killAtExit(child);
  let said = '';
  child.stderr.on('data', (chunk) => {
    said = `${said}${chunk}`.slice(-4_000);
  });
  const closed = once(child, 'close');
  const origin = `http://127.0.0.1:${port}`;
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  const stop = async () => {
    child.kill();
    await Promise.race([closed, pause(GRACE, undefined, { ref: false })]);
    child.kill('SIGKILL');
    await closed;
  };
  while (!(await answers(origin))) {
    if (hasEnded()) throw new Error(`${program} ended: ${said}`);
    if (performance.now() - startedAt > PATIENCE) {
      await stop();
      throw new Error(`${program} does not answer: ${said}`);
    }
    await pause(BETWEEN_TRIES);
  }
  // taskset becomes what it starts.
  return { origin, pid: child.pid as number, firstAnswer: performance.now() - startedAt, stop };
};

/** Whether anything is answered at all: a path that is unknown goes through everything that a system puts in front. */
const answers = (origin: string): Promise<boolean> =>
  new Promise((resolve) => {
    get(`${origin}/health/live`, { agent: false }, (response) =>
      response.resume().once('end', () => resolve(true)),
    ).once('error', () => resolve(false));
  });
