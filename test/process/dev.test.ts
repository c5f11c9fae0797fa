import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it, onTestFinished, vi } from 'vitest';
import { ROOT, readText } from '../support/checkout/repository.ts';
import { killAtExit } from '../support/servers/keeper.ts';
import { temporaryDirectory } from '../support/storage/temporary-directory.ts';

/** Only catches a hang. */
const TIMEOUT = 60_000;

/** The arguments of `npm run dev`, for another working directory than the checkout. */
const argumentsOfDev = (): string[] => {
  const { scripts }: { readonly scripts: Record<string, string> } = JSON.parse(readText('package.json'));
  const [, , ...args] = scripts.dev?.split(' ') ?? [];
  return args.map((each) => (/\.[jt]s$/.test(each) ? join(ROOT, each) : each));
};

it('npm run dev restarts the service when .env changes', async () => {
  const directory = temporaryDirectory();
  const setBaseUrl = (url: string) => writeFileSync(join(directory.path, '.env'), `BASE_URL=${url}\n`);
  setBaseUrl('http://before.example');
  const child = spawn(process.execPath, argumentsOfDev(), {
    cwd: directory.path,
    env: { PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  killAtExit(child);
  onTestFinished(async () => {
    child.kill();
    await once(child, 'close');
  });
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  const listensAs = (url: string) =>
    vi.waitFor(() => expect(lines).toContainEqual(expect.stringContaining(`"url":"${url}"`)), { timeout: TIMEOUT });

  await listensAs('http://before.example');
  setBaseUrl('http://after.example');
  await listensAs('http://after.example');
});
