import { once } from 'node:events';
import type { Server as HttpServer } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import { closedAtEnd } from './closing.ts';

/**
 * Listens on a port of the loopback address, by default any free one, until the end of the test or file. `close` also closes
 * keep-alive connections.
 */
export const listenOnLoopback = async (
  server: Server | HttpServer,
  wanted = 0,
  host = '127.0.0.1',
): Promise<{ port: number; url: string; close: () => Promise<void> }> => {
  server.listen(wanted, host);
  await once(server, 'listening');
  // A server that listens on a port has an `AddressInfo` as its address.
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://${host}:${port}`,
    close: closedAtEnd(async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      if (!('closeAllConnections' in server)) return;
      server.closeAllConnections();
      await closed;
    }),
  };
};
