import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { provideDebianPackages } from './debian-package.ts';
import { freePort } from './free-port.ts';
import { launch, type TestServer } from './server.ts';
import { serverDirectory } from './unprivileged.ts';

/** The program of Redis, and the directories of libraries that the system lacks. */
export type RedisProgram = { readonly command: string; readonly libraries: readonly string[] };

/**
 * Finds `redis-server` on the PATH, or else unpacks the Debian package.
 * @throws Error if the package cannot be fetched or the program does not run
 */
export const provideRedis = async (): Promise<RedisProgram> => {
  const onPath = { command: 'redis-server', libraries: [] };
  if (await runs(onPath)) return onPath;
  const { root, libraries } = await provideDebianPackages('usr/bin/redis-server', 'redis-server', 'redis-tools');
  const unpacked = { command: join(root, 'usr/bin/redis-server'), libraries };
  if (!(await runs(unpacked))) throw new Error(`${unpacked.command} does not run`);
  return unpacked;
};

const runs = (program: RedisProgram): Promise<boolean> =>
  promisify(execFile)(program.command, ['--version'], { env: environmentOf(program) }).then(
    () => true,
    () => false,
  );

export const environmentOf = ({ libraries }: RedisProgram): Record<string, string> => ({
  PATH: process.env.PATH ?? '',
  ...(libraries.length > 0 && { LD_LIBRARY_PATH: libraries.join(':') }),
});

/**
 * Starts a Redis with many databases. Its data survive the end of the process.
 * @param given settings of `redis.conf` that override or extend the default ones
 */
export const launchRedis = async (
  program: RedisProgram,
  given: Readonly<Record<string, string>> = {},
): Promise<TestServer> => {
  const directory = serverDirectory('redis', {});
  const port = await freePort();
  const settings = {
    bind: '127.0.0.1',
    port: String(port),
    requirepass: randomUUID(),
    databases: '1024',
    dir: directory,
    save: '""',
    appendonly: 'yes',
    appendfsync: 'no',
    ...given,
  };
  return launch({
    url: `redis://:${settings.requirepass}@127.0.0.1:${port}/0`,
    directory,
    command: program.command,
    args: ['-'],
    input: Object.entries(settings)
      .map(([name, value]) => `${name} ${value}\n`)
      .join(''),
    env: environmentOf(program),
    user: {},
  });
};
