import { createServer } from 'node:net';
import { cannotListen, type ListenOptions } from './listen-error.ts';

/**
 * Listens for a moment and closes: finds out that an address is taken before the start does anything that takes long.
 * @throws Error that names the settings of the address, and the system's reason.
 */
export const probePort = (options: ListenOptions): Promise<void> =>
  new Promise((resolve, reject) => {
    // `close` waits for the connections that it has.
    const server = createServer((socket) => socket.destroy());
    server.once('error', (error) => reject(cannotListen(options, error)));
    server.listen(options.port, options.host, () => server.close(() => resolve()));
  });
