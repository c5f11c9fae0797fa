import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

/**
 * A script that waits until its input ends, then stops the server whose process id is in the file `pid`, if any, and removes the
 * directory. SIGINT ends PostgreSQL and Redis, and SIGTERM ends MariaDB. A suspended process only receives them after SIGCONT.
 */
const SCRIPT = `
trap '' HUP INT TERM
read -r _
if pid=$(cat "$1/pid" 2> /dev/null); then
  all="$pid $(cat "/proc/$pid/task/$pid/children" 2> /dev/null || pgrep -P "$pid")"
  kill -CONT $all
  kill -INT "$pid"
  kill -TERM "$pid"
  n=50
  while kill -0 "$pid" && [ "$n" -gt 0 ]; do sleep 0.1; n=$((n - 1)); done
  [ "$n" -gt 0 ] || kill -KILL $all
fi 2> /dev/null
rm -rf "$1"
`;

/**
 * Stops the server in a directory and removes the directory when this process has ended in any way, even by SIGKILL.
 * @returns a function that does this now, and waits until it is done
 */
export const removeAtExit = (directory: string): (() => Promise<void>) => {
  const keeper = spawnKeeper(SCRIPT, directory);
  const gone = once(keeper, 'exit');
  return async () => {
    keeper.stdin.end();
    await gone;
  };
};

/** Kills a child process when this process has ended in any way, even by SIGKILL. */
export const killAtExit = (child: ChildProcess): void => {
  const keeper = spawnKeeper(`trap '' HUP INT TERM; read -r _; kill -KILL "$1"`, String(child.pid));
  child.once('exit', () => keeper.kill('SIGKILL'));
};

const spawnKeeper = (script: string, subject: string) =>
  spawn('/bin/sh', ['-c', script, 'keeper', subject], {
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
