import { createServer } from 'node:net';
import { cannotListen, type ListenOptions } from './listen-error.ts';

/**
 * Checks that an address is free, before the start does anything slow: listens there and closes at once.
 * @throws Error that names the settings of the address and the system's reason
 */
export const probePort = (options: ListenOptions): Promise<void> =>
  new Promise((resolve, reject) => {
    // `close` waits for open connections.
    const server = createServer((socket) => socket.destroy());
    server.once('error', (error) => reject(cannotListen(options, error)));
    server.listen(options.port, options.host, () => server.close(() => resolve()));
  });
