import { memoryStorage, parseConfig, serve } from 'tandem';
import { expect, it, onTestFinished } from 'vitest';
import { freePort } from '../support/servers/free-port.ts';
import { temporaryDirectory } from '../support/storage/temporary-directory.ts';

const ADA = { username: 'ada', email: 'ada@example.org', password: 'correct horse' };

/** Starts the service as docs/own-store.md shows it, at a port of the test's own. */
const startInMemory = async () => {
  const { path: directory } = temporaryDirectory();
  const port = `${await freePort()}`;
  const config = parseConfig({
    ...{ NODE_ENV: 'test', PORT: port, DATA_DIR: directory },
    ...{ RATE_LIMITS: 'off', BCRYPT_COST: '4' },
  });
  const stop = await serve(config, { storage: memoryStorage() });
  onTestFinished(() => stop('the test is over'));
  return (path: string, { body, ...init }: { readonly body?: object; readonly headers?: Record<string, string> }) =>
    fetch(`http://localhost:${port}${path}`, {
      ...init,
      method: 'POST',
      ...(body && { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } }),
    });
};

it('the service over memory, in a test of an application registers and refreshes, and knows nobody of another test', async () => {
  const post = await startInMemory();
  const registered = await post('/auth/register', { body: ADA });
  expect(registered.status).toBe(201);
  const [cookie = ''] = registered.headers.getSetCookie();
  const [pair = ''] = cookie.split(';');
  expect((await post('/auth/refresh-token', { headers: { Cookie: pair } })).status).toBe(200);
  expect((await post('/auth/register', { body: ADA })).status).toBe(409);
  const another = await startInMemory();
  expect((await another('/auth/register', { body: ADA })).status).toBe(201);
});
