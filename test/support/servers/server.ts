import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { removeAtExit } from './keeper.ts';
import { allGone, signalAll, stopTree } from './process-tree.ts';

/** A server process for tests on a loopback port, with a data directory that exists until `stop`. */
export type TestServer = {
  readonly url: string;
  /** The id of the process, which changes at a restart. */
  readonly pid: () => number;
  /** Simulates a crash, which breaks connections and keeps the data. */
  readonly kill: () => Promise<void>;
  /** Suspends its processes, so that connections are accepted and stay open but get no response. */
  readonly freeze: () => Promise<void>;
  readonly thaw: () => void;
  /** Kills the server if it still runs, and starts it again with the same port and data. */
  readonly restart: () => Promise<void>;
  /** Stops the server and removes its data. */
  readonly stop: () => Promise<void>;
};

export type Launch = {
  readonly url: string;
  readonly directory: string;
  readonly command: string;
  readonly args: readonly string[];
  /** The standard input of the server. */
  readonly input?: string;
  readonly env: Readonly<Record<string, string>>;
  /** The user that runs the server. It is empty for the current user. */
  readonly user: Owner;
  /** Matches what the server prints when it is ready. By default it is `READY`. */
  readonly ready?: RegExp;
  /** Runs once before the first start. */
  readonly prepare?: () => Promise<void>;
};

export type Owner = { readonly uid?: number; readonly gid?: number };

/** Matches the log line of PostgreSQL, Redis, a sentinel or PgBouncer that is ready. */
const READY = /ready to accept connections|Sentinel ID is|process up: PgBouncer/i;
/** Milliseconds after which a start counts as hanging. */
const START_TIMEOUT = 90_000;

/**
 * Starts a server in a directory, which is removed when the server is stopped or this process ends in any way.
 * @throws Error with the output of the server if it does not start
 */
export const launch = async (options: Launch): Promise<TestServer> => {
  const stop = removeAtExit(options.directory);
  let server: RunningServer;
  try {
    await options.prepare?.();
    server = await run(options);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    url: options.url,
    pid: () => server.pid,
    kill: () => server.kill(),
    freeze: () => server.freeze(),
    thaw: () => server.thaw(),
    restart: async () => {
      await server.kill();
      server = await run(options);
    },
    stop,
  };
};

type RunningServer = Pick<TestServer, 'kill' | 'freeze' | 'thaw'> & { readonly pid: number };

const run = async (options: Launch): Promise<RunningServer> => {
  const { command, args, directory, env, user, input = '', ready = READY } = options;
  const child = spawn(command, args, { cwd: directory, env, ...user, detached: true, stdio: 'pipe' });
  await once(child, 'spawn');
  // A child process has an id after the event `spawn`.
  const pid = child.pid as number;
  const pidFile = join(directory, 'pid');
  writeFileSync(pidFile, String(pid));
  const gone = once(child, 'exit').finally(() => rmSync(pidFile, { force: true }));
  child.stdin.on('error', () => undefined).end(input);
  await readiness(child, ready, gone);

  let frozen: readonly number[] = [];
  const isUp = () => child.exitCode === null && child.signalCode === null;
  return {
    pid,
    freeze: async () => {
      if (isUp()) frozen = await stopTree(pid);
    },
    thaw: () => {
      signalAll(frozen, 'SIGCONT');
      frozen = [];
    },
    kill: async () => {
      if (!isUp()) return;
      const processes = await stopTree(pid);
      signalAll(processes, 'SIGKILL');
      await gone;
      // PostgreSQL does not start while a child of its previous run holds its shared memory.
      await allGone(processes);
    },
  };
};

const readiness = async (child: ChildProcess, expected: RegExp, gone: Promise<unknown>): Promise<void> => {
  let output = '';
  const ready = new Promise<void>((resolve) => {
    const listen = (chunk: Buffer) => {
      output = `${output}${chunk}`.slice(-4_000);
      if (expected.test(output)) resolve();
    };
    child.stdout?.on('data', listen);
    child.stderr?.on('data', listen);
  });
  const late = pause(START_TIMEOUT, true, { ref: false });
  const failed = await Promise.race([ready, gone.then(() => true), late]);
  if (failed) throw new Error(`${child.spawnfile} did not come up: ${output.trim()}`);
};
