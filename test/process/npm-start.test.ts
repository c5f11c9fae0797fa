import { once } from 'node:events';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { ROOT } from '../support/checkout/repository.ts';
import { runService } from '../support/processes/process.ts';
import { temporaryDirectory } from '../support/storage/temporary-directory.ts';

/** Runs `npm start` with the Node.js of the next argument, in place of the program that follows. */
const NPM_START = 'cd "$0"; PATH="$(dirname "$1"):$PATH" exec npm --silent start';

it.each(['SIGTERM', 'SIGINT'] as const)('npm start stops the service on %s, and ends after it', async (signal) => {
  // A directory without the `.env` of the checkout.
  const directory = temporaryDirectory();
  for (const name of ['package.json', 'src']) symlinkSync(join(ROOT, name), join(directory.path, name));
  const env = { HOME: directory.path };
  const { child, url, stdout } = await runService(env, ['bash', '-c', NPM_START, directory.path]);
  onTestFinished(() => {
    if (child.exitCode !== 0) process.kill(JSON.parse(stdout[0] ?? '').pid, 'SIGKILL');
  });
  await fetch(`${url}/health/live`);

  const ended = once(child, 'exit');
  child.kill(signal);
  expect(await ended).toEqual([0, null]);
  await expect(fetch(url)).rejects.toThrow();
});
