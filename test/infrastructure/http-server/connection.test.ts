import { expect, it } from 'vitest';
import { listen } from '../../../src/infrastructure/http-server/server.ts';
import { head, openSocket, readToEnd } from '../../support/http/raw-http.ts';

it.each([
  ['an invalid request', 'nonsense\r\n\r\n'],
  ['a request without a Host', 'GET / HTTP/1.1\r\n\r\n'],
  ['a tunnel', head('CONNECT a:1')],
])('a errorResponse of %s that fails closes its connection, and does not end the process', async (_title, bytes) => {
  const server = await listen(
    {
      request: (_incoming, response) => void response.end('served'),
      errorResponse: () => Promise.reject(new Error('broken')),
    },
    { host: '127.0.0.1', port: 0, requestTimeoutMs: 5_000 },
  );
  const url = `http://127.0.0.1:${server.address.port}`;
  const refused = openSocket(url);
  refused.write(bytes);
  expect(await readToEnd(refused)).toBe('');
  const served = openSocket(url);
  served.write(head('GET /', { Connection: 'close' }));
  expect(await readToEnd(served)).toContain('served');
  await server.closeNow();
});
