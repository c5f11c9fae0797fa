import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../support/checkout/repository.ts';
import { listenOnLoopback } from '../support/listen.ts';

const CLIENT = pathToFileURL(join(ROOT, 'client/dist/client.js')).href;

/** What a program on Node prints that has no session at a service, and renews. It waits at the top level of its module. */
const printed = async (options: string): Promise<unknown> => {
  const server = createServer((_request, response) => {
    const body = { success: false, code: 'AUTH_FAILED', message: 'No session.', details: null };
    response.writeHead(401, { 'Content-Type': 'application/json', Connection: 'close' }).end(JSON.stringify(body));
  });
  const { port } = await listenOnLoopback(server);
  const program = `
    import { AuthError, createAuthClient } from '${CLIENT}';
    const auth = createAuthClient({ baseUrl: 'http://127.0.0.1:${port}', ${options} });
    const error = await auth.refresh().catch((error) => error);
    console.log(JSON.stringify(error instanceof AuthError ? error.code : error));`;
  const run = promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program]);
  return JSON.parse((await run).stdout);
};

describe('a program on Node without a session', () => {
  it('gets an error that says that its fetch keeps no cookie', async () => {
    expect(await printed('')).toBe('CLIENT_COOKIE_BLOCKED');
  });

  it('gets null with a fetch that may keep one, and is not ended while it waits', async () => {
    expect(await printed('fetch: (request) => fetch(request)')).toBeNull();
  });
});
