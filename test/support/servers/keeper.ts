import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

/**
 * Waits until its input ends, then ends the server whose process id the directory's file `pid` has, if any, and removes the
 * directory. SIGINT asks PostgreSQL and Redis alike to end soon; a process that is stopped hears nothing, so it is continued.
 */
const SCRIPT = `
trap '' HUP INT TERM
read -r _
if pid=$(cat "$1/pid" 2> /dev/null); then
  all="$pid $(cat "/proc/$pid/task/$pid/children" 2> /dev/null || pgrep -P "$pid")"
  kill -CONT $all
  kill -INT "$pid"
  n=50
  while kill -0 "$pid" && [ "$n" -gt 0 ]; do sleep 0.1; n=$((n - 1)); done
  [ "$n" -gt 0 ] || kill -KILL $all
fi 2> /dev/null
rm -rf "$1"
`;

/**
 * Has a directory, and the server that runs in it, taken away when this process is gone: whether it ended by itself, by ^C or
 * by SIGKILL.
 * @returns takes them away now, and waits for that.
 */
export const keep = (directory: string): (() => Promise<void>) => {
  const keeper = spawnKeeper(SCRIPT, directory);
  const gone = once(keeper, 'exit');
  return async () => {
    keeper.stdin.end();
    await gone;
  };
};

/** Has a process killed when this one is gone in whatever way, unless it has ended by then. */
export const endWithUs = (child: ChildProcess): void => {
  const keeper = spawnKeeper(`trap '' HUP INT TERM; read -r _; kill -KILL "$1"`, String(child.pid));
  child.once('exit', () => keeper.kill('SIGKILL'));
};

const spawnKeeper = (script: string, subject: string) =>
  spawn('/bin/sh', ['-c', script, 'keeper', subject], {
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
