import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Listens on a port of the loopback address, any free one by default; `close` also closes keep-alive connections of a browser. */
export const listenOnLoopback = async (
  server: Server,
  wanted = 0,
): Promise<{ port: number; close: () => Promise<void> }> => {
  server.listen(wanted, '127.0.0.1');
  await once(server, 'listening');
  return {
    // A server that listens on a port has no other kind of address.
    port: (server.address() as AddressInfo).port,
    close: async () => {
      server.close();
      server.closeAllConnections();
    },
  };
};
