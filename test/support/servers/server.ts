import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { keep } from './keeper.ts';
import { allGone, signalAll, stopTree } from './process-tree.ts';

/** A server process of the tests' own, on a loopback port and with a data directory that it keeps until `stop`. */
export type TestServer = {
  readonly url: string;
  /** Ends it as a crash would: connections break, its data stay. */
  readonly kill: () => Promise<void>;
  /** Makes it stand still: its port accepts and its connections stay, and nothing answers. */
  readonly freeze: () => Promise<void>;
  readonly thaw: () => void;
  /** Runs it again on the same port and data, after it was killed, or kills it first. */
  readonly restart: () => Promise<void>;
  /** Ends it and takes its data away. */
  readonly stop: () => Promise<void>;
};

export type Launch = {
  readonly url: string;
  readonly directory: string;
  readonly command: string;
  readonly args: readonly string[];
  /** What it reads. */
  readonly input?: string;
  readonly env: Readonly<Record<string, string>>;
  /** Whom it runs as, when not as ourselves. */
  readonly user: Owner;
  /** What has to be done once before it runs. */
  readonly prepare?: () => Promise<void>;
};

export type Owner = { readonly uid?: number; readonly gid?: number };

/** What PostgreSQL and Redis alike say when they are up. */
const READY = /ready to accept connections/i;
const PATIENCE = 30_000;

/**
 * Runs a server in a directory, which goes with it: when it is stopped, and when this process ends in whatever way.
 * @throws Error with what the server said when it does not come up.
 */
export const launch = async (options: Launch): Promise<TestServer> => {
  const stop = keep(options.directory);
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

type RunningServer = Pick<TestServer, 'kill' | 'freeze' | 'thaw'>;

const run = async (options: Launch): Promise<RunningServer> => {
  const { command, args, directory, env, user, input = '' } = options;
  const child = spawn(command, args, { cwd: directory, env, ...user, detached: true, stdio: 'pipe' });
  await once(child, 'spawn');
  const pid = child.pid as number;
  const pidFile = join(directory, 'pid');
  writeFileSync(pidFile, String(pid));
  const gone = once(child, 'exit').finally(() => rmSync(pidFile, { force: true }));
  child.stdin.on('error', () => undefined).end(input);
  await readiness(child, gone);

  let frozen: readonly number[] = [];
  const isUp = () => child.exitCode === null && child.signalCode === null;
  return {
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
      // PostgreSQL does not start while a child of its former life holds its memory.
      await allGone(processes);
    },
  };
};

const readiness = async (child: ChildProcess, gone: Promise<unknown>): Promise<void> => {
  let said = '';
  const ready = new Promise<void>((resolve) => {
    const listen = (chunk: Buffer) => {
      said = `${said}${chunk}`.slice(-4_000);
      if (READY.test(said)) resolve();
    };
    child.stdout?.on('data', listen);
    child.stderr?.on('data', listen);
  });
  const late = pause(PATIENCE, true, { ref: false });
  const failed = await Promise.race([ready, gone.then(() => true), late]);
  if (failed) throw new Error(`${child.spawnfile} did not come up: ${said.trim()}`);
};
