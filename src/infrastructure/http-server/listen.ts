import { createServer } from 'node:net';
import { getSystemErrorMessage } from 'node:util';

export type ListenOptions = {
  readonly host: string;
  readonly port: number;
  /** The settings that the address comes from. */
  readonly settings: string;
};

export const cannotListen = ({ host, port, settings }: ListenOptions, error: NodeJS.ErrnoException): Error => {
  const { errno, code, message } = error;
  const reason = errno === undefined || code === undefined ? message : `${getSystemErrorMessage(errno)} (${code})`;
  return new Error(`${settings}: cannot listen on ${addressText(host, port)}: ${reason}`);
};

export const addressText = (host: string, port: number): string => `${host.includes(':') ? `[${host}]` : host}:${port}`;

/**
 * Checks that an address is free, before anything slow is started: listens there, and closes at once.
 * @throws Error that names the settings of the address and the system's reason
 */
export const probePort = (options: ListenOptions): Promise<void> =>
  new Promise((resolve, reject) => {
    // `close` waits for open connections.
    const server = createServer((socket) => socket.destroy());
    server.once('error', (error) => reject(cannotListen(options, error)));
    server.listen(options.port, options.host, () => server.close(() => resolve()));
  });
