import { expect, it, onTestFinished } from 'vitest';
import { MAIN, spawnService } from '../support/processes/process.ts';
import { temporaryDirectory } from '../support/storage/temporary-directory.ts';

/** Per cent of the young generation that each of its collections kept, in the order of V8's own trace. */
const keptIn = (lines: readonly string[]): number[] =>
  lines.flatMap((line) => {
    const [, kept] = /"gc":"s".*"new_space_survive_rate":([\d.]+)/.exec(line) ?? [];
    return kept === undefined ? [] : [Number(kept)];
  });

const median = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;

it('what a request allocated is collected with the young generation', { timeout: 120_000 }, async () => {
  const { path } = temporaryDirectory();
  const env = {
    DATA_DIR: path,
    LOG_LEVEL: 'info',
    RATE_LIMITS: 'global=1000000/60,strict=1000000/60,public=1000000/60',
  };
  const service = spawnService(env, [], '--trace-gc', ['--trace-gc-nvp', MAIN]);
  onTestFinished(async () => {
    service.child.kill('SIGKILL');
    await service.outcome;
  });
  const listening = () => service.stdout.map((line) => /"address":\{.*"port":(\d+)/.exec(line)?.[1]).find(Boolean);
  const port = await expect.poll(listening, { timeout: 30_000 }).toBeDefined().then(listening);
  const url = `http://127.0.0.1:${port}`;
  const registered = await fetch(`${url}/auth/register`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ username: 'ada', email: 'ada@example.org', password: 'correct horse' }),
  });
  const { data } = (await registered.json()) as { readonly data: { readonly accessToken: string } };
  const ask = async (path: string) => {
    const response = await fetch(`${url}${path}`, { headers: { Authorization: `Bearer ${data.accessToken}` } });
    expect([path, response.status, (await response.text()).length > 0]).toEqual([path, 200, true]);
  };
  const collections = () => keptIn(service.stdout);
  const atStart = collections().length;
  // Few at a time: each collection keeps what the requests that it interrupts have allocated.
  while (collections().length < atStart + 40)
    await Promise.all(['/auth/session', '/users/me', '/.well-known/jwks.json'].map(ask));
  expect(median(collections().slice(-20))).toBeLessThan(5);
});
