import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A line to a server on which requests can be held up, and arrive later. Its responses are never held up. */
export const openHeldLine = async (server: string) => {
  let target = new URL(server);
  const lines = new Map<Socket, Socket>();
  const listener = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    lines.set(near, far);
    near.pipe(far).pipe(near);
    for (const socket of [near, far]) {
      socket.on('error', () => undefined);
      socket.on('close', () => {
        near.destroy();
        far.destroy();
      });
    }
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const url = new URL(server);
  url.host = `127.0.0.1:${(listener.address() as AddressInfo).port}`;
  return {
    url: url.href,
    hold: (): void => {
      for (const [near, far] of lines) near.unpipe(far).pause();
    },
    release: (): void => {
      for (const [near, far] of lines) near.pipe(far);
    },
    /** Leads new connections to another server; those that exist stay. */
    leadTo: (other: string): void => {
      target = new URL(other);
    },
    close: (): void => {
      listener.close();
      for (const near of lines.keys()) near.destroy();
    },
  };
};
