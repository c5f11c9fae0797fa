import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { vi } from 'vitest';
import { ROOT } from '../checkout/repository.ts';
import { spawnService } from '../processes/process.ts';
import { temporaryDirectory } from '../storage/temporary-directory.ts';

type Env = Readonly<Record<string, string>>;

/** A copy of an example, as after `npm install`: with the packages of this checkout, and with a link to its client. */
export const installedExample = (name: string) => {
  const { path, remove } = temporaryDirectory();
  const directory = join(path, name);
  const isSource = (file: string) => !/\/(?:node_modules|build|\.svelte-kit)$/.test(file);
  cpSync(join(ROOT, 'examples', name), directory, { recursive: true, filter: isSource });
  symlinkSync(join(ROOT, 'node_modules'), join(path, 'node_modules'));
  mkdirSync(join(directory, 'node_modules'));
  symlinkSync(join(ROOT, 'client'), join(directory, 'node_modules/tandem-client'));

  return {
    /** Runs a tool of this checkout in the copy. */
    run: (tool: string, ...args: readonly string[]) =>
      promisify(execFile)(process.execPath, [join(ROOT, 'node_modules', tool), ...args], { cwd: directory }),
    /** Starts one of its programs, and waits until it answers. */
    start: async (program: string, url: string, env: Env) => {
      const server = spawnService(env, [], join(directory, program));
      const ended = server.outcome.then(() => {
        throw new Error(`${program} of ${name} did not start: ${server.stderr.join('\n')}`);
      });
      await Promise.race([ended, vi.waitFor(() => fetch(url), { timeout: 60_000, interval: 50 })]);
      return async () => {
        ended.catch(() => undefined);
        server.child.kill('SIGKILL');
        await server.outcome;
      };
    },
    remove,
  };
};
