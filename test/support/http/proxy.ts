import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/**
 * A reverse proxy in front of a service, which ends with the test.
 * @param rechunks whether it sends bodies on in chunks, without their length, as some proxies do.
 * @returns its URL.
 */
export const reverseProxy = async (target: string, { rechunks }: { readonly rechunks: boolean }): Promise<string> => {
  const server = createServer((incoming, outgoing) => {
    const { 'content-length': length, ...headers } = incoming.headers;
    const passed = rechunks && length !== undefined ? { ...headers, 'transfer-encoding': 'chunked' } : incoming.headers;
    const forwarded = request(new URL(incoming.url ?? '/', target), { method: incoming.method, headers: passed });
    forwarded.once('error', () => outgoing.destroy());
    forwarded.once('response', (response) => {
      outgoing.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(outgoing);
    });
    incoming.pipe(forwarded);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};
