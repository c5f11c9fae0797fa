import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished, vi } from 'vitest';
import { runInMemory, spawnService } from '../support/processes/process.ts';
import { freePort } from '../support/servers/free-port.ts';

const PROGRAM = fileURLToPath(new URL('../support/processes/in-memory.ts', import.meta.url));
const VERBOSE = { LOG_LEVEL: 'debug', RATE_LIMITS: 'off' };

/** Together more lines than a pipe and a mebibyte hold. Each is answered. */
const requests = async (url: string, count: number) => {
  const target = `${url}/${'x'.repeat(200)}`;
  for (let asked = 0; asked < count; asked += 50)
    expect(
      new Set(await Promise.all(Array.from({ length: 50 }, () => fetch(target).then(({ status }) => status)))),
    ).toEqual(new Set([404]));
};

const lostLines = async (port: number): Promise<number> => {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  return Number(/^tandem_log_lines_lost_total (\d+)$/m.exec(text)?.[1]);
};

it('a full disk for the log stops nothing, and the service ends when it is told to', async () => {
  const [port, metrics] = [await freePort(), await freePort()];
  const env = { ...VERBOSE, PORT: String(port), METRICS: String(metrics) };
  const toFull = ['bash', '-c', 'exec "$0" "$@" > /dev/full'];
  const { child, outcome } = spawnService(env, toFull, PROGRAM);
  onTestFinished(() => void child.kill('SIGKILL'));
  const url = `http://127.0.0.1:${port}`;
  await vi.waitFor(() => fetch(url), { timeout: 60_000, interval: 50 });
  await requests(url, 4_000);
  expect(await lostLines(metrics)).toBeGreaterThan(0);
  child.kill('SIGTERM');
  expect(await outcome).toEqual({ code: 0, signal: null });
});

it('neither does a pipe that nobody reads any more; read again, it has each line whole and says how many were lost', async () => {
  const metrics = await freePort();
  const { url, child, stdout, outcome } = await runInMemory({ ...VERBOSE, METRICS: String(metrics) });
  onTestFinished(() => void child.kill('SIGKILL'));
  child.stdout?.pause();
  await requests(url, 4_000);
  const lost = await lostLines(metrics);
  expect(lost).toBeGreaterThan(0);

  child.stdout?.resume();
  const messages = () => stdout.map((line): { readonly msg: string; readonly lines?: number } => JSON.parse(line));
  await vi.waitFor(() => expect(messages().at(-1)?.msg).toBe('log lines were lost'), { timeout: 60_000, interval: 20 });
  expect(messages().at(-1)?.lines).toBe(lost);

  child.stdout?.pause();
  await requests(url, 1_000);
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  expect(await ended).toBe(0);
  child.stdout?.resume();
  await outcome;
});
