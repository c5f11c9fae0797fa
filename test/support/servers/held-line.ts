import { connect, createServer, type Socket } from 'node:net';
import { runAtEnd } from '../closing.ts';
import { listenOnLoopback } from '../listen.ts';

/** A proxy of a server that can hold requests back and forward them later. It never holds responses back. */
export const openHeldLine = async (server: string) => {
  let target = new URL(server);
  let isCut = false;
  const lines = new Map<Socket, Socket>();
  const listener = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    lines.set(near, far);
    if (!isCut) near.pipe(far).pipe(near);
    for (const socket of [near, far]) {
      socket.on('error', () => undefined);
      socket.on('close', () => {
        lines.delete(near);
        near.destroy();
        far.destroy();
      });
    }
  });
  const { port, close } = await listenOnLoopback(listener);
  const url = new URL(server);
  url.host = `127.0.0.1:${port}`;
  const end = (): void => {
    for (const near of lines.keys()) near.destroy();
  };
  runAtEnd(end);
  return {
    url: url.href,
    hold: (): void => {
      for (const [near, far] of lines) near.unpipe(far).pause();
    },
    release: (): void => {
      for (const [near, far] of lines) near.pipe(far);
    },
    /** Forwards new connections to another server. Existing connections stay. */
    leadTo: (other: string): void => {
      target = new URL(other);
    },
    /** Ends all connections. While the proxy is cut, new connections stay open without an answer. */
    setCut: (cut: boolean): void => {
      isCut = cut;
      end();
    },
    close: (): void => {
      void close();
      end();
    },
  };
};
